import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import type { Role } from '../../config/sections/auth.js'
import type { Caller, Exchange } from '../exchange/exchange.js'

/** A configured token: who has it, what they may do, and the SHA-256 of the token itself. */
export interface TokenRecord {
  readonly name: string
  readonly roles: readonly Role[]
  /** 64 hex digits. */
  readonly sha256: string
}

/** Checks that a request may do what only `roles` may; an admin may do everything. Sets the exchange's caller. */
export type Authenticate = (exchange: Exchange, roles: readonly Role[]) => void

interface KnownToken extends TokenRecord {
  readonly digest: Buffer
}

/** Who calls where nobody is asked who they are. */
const EVERYBODY: Caller = { tokenName: undefined, isAdmin: true }

const BEARER = /^Bearer +(?<token>\S+)\s*$/i

export interface AuthenticationRules {
  readonly tokens: readonly TokenRecord[]
  /** Whether a request without a token may do what the orchestrator may. */
  readonly openToOrchestrator: boolean
}

/**
 * Authentication by bearer tokens. Without configured tokens everyone may do everything (the service then listens on
 * loopback only, or was told to be insecure). Raises `unauthenticated` without a known token, `forbidden` without the role.
 */
export function makeAuthenticate({ tokens, openToOrchestrator }: AuthenticationRules): Authenticate {
  const findToken = makeFindToken(tokens)
  if (tokens.length === 0) {
    return (exchange) => {
      exchange.caller = EVERYBODY
    }
  }
  return (exchange, roles) => {
    const authorization = exchange.header('authorization')
    // A token that is wrong is an error, not the same as none.
    if (authorization === undefined && openToOrchestrator && roles.includes('orchestrator')) return
    const presented = BEARER.exec(authorization ?? '')?.groups?.['token']
    const token = presented === undefined ? undefined : findToken(presented)
    if (token === undefined) throw unauthenticated(presented !== undefined)
    requireRole(token, roles)
    exchange.caller = bearerOf(token)
  }
}

/** Finds a token by what is presented. Digests of one length are compared with all, so that the time taken tells nothing about any of them. */
export function makeFindToken(
  tokens: readonly TokenRecord[],
): (presented: string) => TokenRecord | undefined {
  const known: readonly KnownToken[] = tokens.map((token) => ({
    ...token,
    digest: Buffer.from(token.sha256, 'hex'),
  }))
  return (presented) => {
    const digest = createHash('sha256').update(presented).digest()
    let found: KnownToken | undefined
    for (const token of known) if (timingSafeEqual(token.digest, digest)) found = token
    return found
  }
}

/** Who calls with a token. */
export function bearerOf({ name, roles }: TokenRecord): Caller {
  return { tokenName: name, isAdmin: roles.includes('admin'), roles }
}

/** Raises `forbidden` for a token without any of some roles; an admin has all. */
export function requireRole(token: TokenRecord, roles: readonly Role[]): void {
  if (!token.roles.some((role) => role === 'admin' || roles.includes(role))) throw forbidden(token, roles)
}

function unauthenticated(wasPresented: boolean): AppError {
  const problem = wasPresented ? 'the bearer token is not known' : 'a bearer token is needed'
  return new AppError(
    'unauthenticated',
    `${problem}: send Authorization: Bearer TOKEN with a token of auth.tokens`,
  )
}

function forbidden(token: TokenRecord, roles: readonly Role[]): AppError {
  return new AppError(
    'forbidden',
    `the token ${token.name} may not do this: it needs the role ${roles.join(' or ') || 'admin'}`,
  )
}
