import { isIP } from 'node:net'

import { isLoopback } from '../../config/sections/listen-address.js'
import { isListedHost } from '../../lib/outbound/address-policy.js'
import { remembered } from '../../lib/remembered.js'

/** What the service is called by those who may ask it. */
export interface HostNames {
  /** The host of `server.addr`, without the brackets of IPv6. */
  readonly listenHost: string
  /** Of the configuration. */
  readonly urls: readonly string[]
  readonly allowedHosts: readonly string[]
}

/** Most callers ask by the same few names. */
const REMEMBERED_HEADERS = 16

/** A Host header: a name or an address, with or without a port (RFC 9110, 7.2). */
const AUTHORITY = /^(?:\[(?<bracketed>[0-9a-f:.]+)\]|(?<plain>[^:[\]\s]+))(?::\d{0,5})?$/

/**
 * Whether a Host header names the service: loopback, its own address, its public URL or what is listed. Beyond loopback any address does, which
 * is how probes ask; a page can be bound to another machine by its name only.
 */
export function makeIsKnownHost(names: HostNames): (header: string) => boolean {
  const { listenHost, urls, allowedHosts } = names
  const isReachable = !isLoopback(listenHost)
  const own = [listenHost, ...urls.map((url) => hostOf(new URL(url).host) ?? '')]
  const list = [...own, ...allowedHosts]
  const takesAll = allowedHosts.includes('*')
  const isKnown = (header: string): boolean => {
    const host = hostOf(header)
    if (host === undefined) return false
    return takesAll || isLoopbackName(host) || (isReachable && isIP(host) !== 0) || isListedHost(host, list)
  }
  return remembered(isKnown, REMEMBERED_HEADERS)
}

/** The host of a Host header in lower case, without its port, brackets and the dot of a root; undefined where it names none. */
function hostOf(header: string): string | undefined {
  const { bracketed, plain } = AUTHORITY.exec(header.toLowerCase())?.groups ?? {}
  return bracketed ?? plain?.replace(/\.$/, '')
}

/** RFC 6761, 6.3: all names below `localhost` are loopback, and no page can have another name bound to it. */
function isLoopbackName(host: string): boolean {
  return host.endsWith('.localhost') || isLoopback(host)
}
