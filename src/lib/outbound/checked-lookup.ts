import { lookup as lookUpName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'

import { refuseAddress } from './address-policy.js'
import type { AddressPolicy } from './address-policy.js'
import { OutboundError } from './outbound-error.js'

/** One address of a host. */
interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** As the operating system resolves names. */
export const resolveHost: ResolveHost = (hostname) => lookUpName(hostname, { all: true, order: 'verbatim' })

/**
 * The name lookup of a socket, which gives only addresses that may be connected to. Since the socket connects to what
 * it gives, a name that answers differently a moment later (DNS rebinding) gains nothing.
 */
export function makeCheckedLookup(policy: AddressPolicy, resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    allowedAddresses(hostname, policy, resolve).then(
      ([first, ...others]) => {
        if (options.all === true) callback(null, [first, ...others])
        else callback(null, first.address, first.family)
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), '')
      },
    )
  }
}

async function allowedAddresses(
  hostname: string,
  policy: AddressPolicy,
  resolve: ResolveHost,
): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]]> {
  const found = await resolve(hostname)
  const judged = found.map((each) => ({ ...each, refusal: refuseAddress(each.address, policy) }))
  const [first, ...others] = judged
    .filter(({ refusal }) => refusal === undefined)
    .map(({ address, family }) => ({ address, family }))
  if (first !== undefined) return [first, ...others]
  const { address, refusal } = judged[0] ?? { address: 'it', refusal: 'without any address' }
  throw new OutboundError(
    judged.length === 0 ? 'not_connected' : 'target_refused',
    `the target ${hostname} is refused: ${address} is ${refusal ?? ''}`,
  )
}
