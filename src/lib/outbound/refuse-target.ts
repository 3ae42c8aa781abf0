import { isIP } from 'node:net'

import { isListedHost, refuseAddress } from './address-policy.js'
import type { AddressPolicy } from './address-policy.js'

/**
 * Checks the form of a URL and, if its host is an address, that address, without resolving names.
 * Returns undefined if the URL is allowed, otherwise a sentence that contains only its scheme and
 * host.
 */
export function refuseTarget(url: string, policy: AddressPolicy): string | undefined {
  if (!URL.canParse(url)) return 'the target is not an absolute URL such as https://example.org/path'
  const { protocol, hostname, username, password, origin } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') {
    return `the target has the scheme ${protocol}//, where only http and https are allowed`
  }
  if (username !== '' || password !== '') {
    return `the target at ${origin} has a user name or password in its URL, which is not allowed`
  }
  const reason = refuseHost(hostname, policy)
  return reason === undefined ? undefined : `the target ${origin} is refused: ${hostname} is ${reason}`
}

/** URL parsing has already normalized decimal, octal, hexadecimal and short forms of IPv4. */
function refuseHost(hostname: string, policy: AddressPolicy): string | undefined {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isListed(host, policy)) return 'not among the allowed hosts'
  if (policy.allowedAddresses?.includes(host) === true) return undefined
  if (isIP(host) !== 0) return refuseAddress(host, policy)
  // These names always mean loopback (RFC 6761, 6.3).
  const isLocalhost = /^(?:.+\.)?localhost$/.test(host)
  return isLocalhost ? refuseAddress('127.0.0.1', policy) : undefined
}

function isListed(host: string, { allowedHosts = [] }: AddressPolicy): boolean {
  if (allowedHosts.length === 0) return true
  return isListedHost(host, allowedHosts)
}
