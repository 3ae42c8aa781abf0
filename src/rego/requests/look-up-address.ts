import { isIP } from 'node:net'

import { toError } from '../../errors/app-error.js'
import { isListedHost } from '../../lib/outbound/address-policy.js'
import type { ResolveHost } from '../../lib/outbound/checked-lookup.js'
import type { CallResult } from '../builtins/shared/recorded-calls.js'
import { RegoSet } from '../values/value.js'
import type { RequestAllowance } from './request-allowance.js'
import { requestRefused } from './request-error.js'
import type { RequestSettings } from './request-settings.js'

/**
 * Returns all addresses of a name that policies may look up, as a set. Raises `evaluation_failed`
 * for other names and after a timeout.
 */
export async function lookUpAddress(
  name: string,
  { allowedHosts }: RequestSettings,
  resolve: ResolveHost,
  allowance: RequestAllowance,
): Promise<CallResult> {
  const host = name.replace(/\.$/, '').toLowerCase()
  if (!isListedHost(host, allowedHosts)) {
    throw requestRefused(
      `net.lookup_ip_addr: ${JSON.stringify(name)} is not among the hosts of policies.requests.allowedHosts`,
    )
  }
  if (isIP(host) !== 0) return { value: new RegoSet([host]) }
  const timeoutMs = allowance.take()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), timeoutMs)
  })
  try {
    const found = await Promise.race([resolve(host), late])
    if (found !== 'late') return { value: new RegoSet(found.map(({ address }) => address)) }
    throw requestRefused(
      `net.lookup_ip_addr: ${JSON.stringify(name)} was not resolved within ${timeoutMs} ms`,
    )
  } catch (raw) {
    const error = toError(raw)
    if (!('syscall' in error)) throw raw
    return { failure: { cause: 'network', message: `lookup ${name}: ${error.message}` } }
  } finally {
    clearTimeout(timer)
  }
}
