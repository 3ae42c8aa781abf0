import ipaddr from 'ipaddr.js'

import { AppError } from '../../errors/app-error.js'
import { readHeaderText } from '../../lib/text/header-text.js'
import type { Exchange } from '../exchange/exchange.js'
import type { FindPerson, Principal } from '../pipeline/authenticate.js'
import { accountOf, principalOf } from './account.js'
import type { AccountRules, ClaimNames } from './account.js'

/** A proxy that authenticates people and names them in headers. */
export interface ProxyRules extends AccountRules {
  readonly addresses: readonly string[]
  readonly userHeader: string
  readonly groupsHeader: string
}

/** Access tokens of an identity provider. */
export interface TokenRules extends AccountRules {
  readonly claims: ClaimNames
  /** Verifies a token for this service and returns its claims. */
  readonly verify: (token: string) => Promise<Readonly<Record<string, unknown>>>
}

/** A token of three parts (RFC 7519). The service's own tokens have no dots. */
const JWT = /^Bearer +(?<token>[\w-]+\.[\w-]+\.[\w-]+)\s*$/i

/** Creates the lookup of people by the token of a provider or the headers of a proxy. */
export function makeFindPerson(
  proxy: ProxyRules | undefined,
  tokens: TokenRules | undefined,
): FindPerson | undefined {
  if (proxy === undefined && tokens === undefined) return undefined
  const fromProxy = proxy === undefined ? () => undefined : makeFindProxied(proxy)
  return async (exchange) => {
    const authorization = exchange.header('authorization')
    if (authorization === undefined) return fromProxy(exchange)
    const token = JWT.exec(authorization)?.groups?.['token']
    if (token === undefined || tokens === undefined) return undefined
    const claims = await tokens.verify(token)
    // Programs have no address; their tokens name them by their subject (RFC 9068, 2.2).
    const { nameClaim } = tokens.claims
    return principalOf(accountOf({ [nameClaim]: claims['sub'], ...claims }, tokens.claims), tokens)
  }
}

/** Creates the lookup of the person whom a proxy names; undefined for requests of all others. */
export function makeFindProxied(rules: ProxyRules): (exchange: Exchange) => Principal | undefined {
  const ranges = rules.addresses.map(rangeOf)
  const userHeader = rules.userHeader.toLowerCase()
  const groupsHeader = rules.groupsHeader.toLowerCase()
  return (exchange) => {
    const name = exchange.header(userHeader)
    if (name === undefined || !isFrom(exchange.remoteAddress, ranges)) return undefined
    for (const header of [rules.userHeader, rules.groupsHeader]) refuseRepeated(exchange, header)
    const groups = exchange.header(groupsHeader) ?? ''
    const claims = {
      name: readHeaderText(name.trim()),
      groups: groups
        .split(',')
        .map((group) => readHeaderText(group.trim()))
        .filter((group) => group !== ''),
    }
    try {
      return principalOf(accountOf(claims, { nameClaim: 'name', groupsClaim: 'groups' }), rules)
    } catch (raw) {
      if (raw instanceof AppError && raw.code === 'no_name')
        throw new AppError('forbidden', `The proxy named no usable person in ${rules.userHeader}.`, {
          code: raw.code,
        })
      throw raw
    }
  }
}

/** Of two headers, one may be the caller's own: the proxy must replace it, not add to it. */
function refuseRepeated({ rawHeaders }: Exchange, name: string): void {
  const isIt = (text: string, at: number): boolean =>
    at % 2 === 0 && text.toLowerCase() === name.toLowerCase()
  if (rawHeaders.filter(isIt).length < 2) return
  throw new AppError(
    'forbidden',
    `The request has ${name} more than once. Let the proxy replace what callers send.`,
    { code: 'repeated_header' },
  )
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function rangeOf(text: string): Range {
  return text.includes('/')
    ? ipaddr.parseCIDR(text)
    : ipaddr.parseCIDR(`${text}/${text.includes(':') ? 128 : 32}`)
}

function isFrom(address: string | undefined, ranges: readonly Range[]): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false
  const caller = ipaddr.process(address)
  return ranges.some((range) => caller.kind() === range[0].kind() && caller.match(range))
}
