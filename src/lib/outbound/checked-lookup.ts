import { lookup as lookUpName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'

import { refuseAddress } from './address-policy.js'
import type { AddressPolicy } from './address-policy.js'
import { OutboundError } from './outbound-error.js'

interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Resolves a host name to all its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Uses the resolver of the operating system. */
export const resolveHost: ResolveHost = (hostname) => lookUpName(hostname, { all: true, order: 'verbatim' })

/**
 * Returns the lookup function of a socket, which returns allowed addresses only. The socket
 * connects to the checked address, so DNS rebinding has no effect.
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
