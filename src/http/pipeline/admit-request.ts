import { isIP } from 'node:net'

import { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import { isLoopback } from '../../config/sections/listen-address.js'
import { isListedHost } from '../../lib/outbound/address-policy.js'
import { remembered } from '../../lib/remembered.js'

/** Rules that separate requests of the service's clients from requests of foreign web pages. */
export interface AdmissionRules {
  readonly isKnownHost: (header: string) => boolean
  /** True if every request must name a known host. */
  readonly needsKnownHost: boolean
  /** True if requests without a token may change something. */
  readonly isOpen: boolean
  readonly publicUrl: string | undefined
}

/** Rejects requests for another host or from a page of another origin. */
export interface Admission {
  /** Raises `forbidden` for a rejected request. */
  readonly admit: (exchange: Request) => void
}

type Request = Pick<Exchange, 'method' | 'header'>

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** `none` means that the user typed the address. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Creates the check before authentication. Any web page can send simple requests to loopback, and
 * with DNS rebinding it can read the responses. Without tokens, only the host and origin of a
 * request distinguish a browser from another client.
 */
export function makeAdmission(rules: AdmissionRules): Admission {
  const { isKnownHost, needsKnownHost, isOpen } = rules
  return {
    admit: (request) => {
      const host = request.header('host')
      // Browsers always send it; HTTP/1.0 clients need not.
      if (host === undefined) return
      const isFromBrowser = isOpen && isBrowserWrite(request)
      if ((needsKnownHost || isFromBrowser) && !isKnownHost(host)) throw hostNotAllowed(host)
      if (isFromBrowser) refuseOtherOrigin(request, host, rules.publicUrl)
    },
  }
}

/** Returns whether a browser sends this write request without a token. */
function isBrowserWrite(request: Request): boolean {
  if (READING.has(request.method) || request.header('authorization') !== undefined) return false
  return request.header('sec-fetch-site') !== undefined || isBrowserOrigin(request.header('origin'))
}

/**
 * Orchestrator stages send their own name as Origin. Browsers send a URL or `null` (Fetch, 3.2).
 */
function isBrowserOrigin(origin: string | undefined): boolean {
  return origin !== undefined && (origin === '' || origin === 'null' || origin.includes('://'))
}

function refuseOtherOrigin(request: Request, host: string, publicUrl: string | undefined): void {
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  const isOwnSite = site === undefined || OWN_SITES.has(site.toLowerCase())
  if (isOwnSite && (origin === undefined || isOwnOrigin(origin.toLowerCase(), host, publicUrl))) return
  throw new AppError(
    'forbidden',
    "A page of another origin sent this request. Without a token, only this service's own pages and clients other than browsers may change anything.",
    { code: 'cross_origin' },
  )
}

function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true
  // A proxy may terminate TLS, so the scheme is not compared.
  return [`http://${host}`, `https://${host}`].some((own) => origin === own.toLowerCase())
}

function hostNotAllowed(host: string): AppError {
  return new AppError(
    'forbidden',
    `Unknown host ${JSON.stringify(host)} in the Host header. Use localhost, or add the name to server.allowedHosts.`,
    { code: 'host_not_allowed' },
  )
}

/** Names of the service. */
export interface HostNames {
  /** Host of `server.addr`, without the brackets of IPv6. */
  readonly listenHost: string
  readonly urls: readonly string[]
  readonly allowedHosts: readonly string[]
}

/** Number of cached Host headers; most clients use the same few. */
const REMEMBERED_HEADERS = 16

/** A Host header: a name or address with an optional port (RFC 9110, 7.2). */
const AUTHORITY = /^(?:\[(?<bracketed>[0-9a-f:.]+)\]|(?<plain>[^:[\]\s]+))(?::\d{0,5})?$/

/**
 * Returns a function that checks whether a Host header names this service: loopback, its own
 * address, its public URL, or a listed name. A service that listens beyond loopback accepts any IP
 * address, since probes use it; DNS rebinding needs a name.
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

/**
 * Returns the lower-case host without port, brackets and trailing dot; undefined if the header is
 * malformed.
 */
function hostOf(header: string): string | undefined {
  const { bracketed, plain } = AUTHORITY.exec(header.toLowerCase())?.groups ?? {}
  return bracketed ?? plain?.replace(/\.$/, '')
}

/** All names under `localhost` are loopback (RFC 6761, 6.3), so no page can rebind them. */
function isLoopbackName(host: string): boolean {
  return host.endsWith('.localhost') || isLoopback(host)
}
