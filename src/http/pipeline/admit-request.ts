import { isIP } from 'node:net'

import { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import { isLoopback } from '../../config/sections/listen-address.js'
import { isListedHost } from '../../lib/outbound/address-policy.js'
import { remembered } from '../../lib/remembered.js'

/** What tells a request of the service's own callers from one that a page in somebody's browser sends. */
export interface AdmissionRules {
  readonly isKnownHost: (header: string) => boolean
  /** Whether every request must name a known host. */
  readonly needsKnownHost: boolean
  /** Whether a request without a token may change something. */
  readonly isOpen: boolean
  readonly publicUrl: string | undefined
}

/** Refuses requests that were not meant for this service, or that a page of another origin sends. */
export interface Admission {
  /** Raises `forbidden` for a request that is not let in. */
  readonly admit: (exchange: Request) => void
}

type Request = Pick<Exchange, 'method' | 'header'>

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** `none`: a person typed the address. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * What comes before authentication. A browser lets every page send simple requests to loopback, and a page whose name is rebound to loopback
 * (DNS rebinding) reads the answers as well: where no token is asked for, only the names in a request tell it from one of a program.
 */
export function makeAdmission(rules: AdmissionRules): Admission {
  const { isKnownHost, needsKnownHost, isOpen } = rules
  return {
    admit: (request) => {
      const host = request.header('host')
      // No browser leaves it out; HTTP/1.0 may.
      if (host === undefined) return
      const isFromBrowser = isOpen && isBrowserWrite(request)
      if ((needsKnownHost || isFromBrowser) && !isKnownHost(host)) throw hostNotAllowed(host)
      if (isFromBrowser) refuseOtherOrigin(request, host, rules.publicUrl)
    },
  }
}

/** Whether a browser sends this without a token, to change something. */
function isBrowserWrite(request: Request): boolean {
  if (READING.has(request.method) || request.header('authorization') !== undefined) return false
  return request.header('sec-fetch-site') !== undefined || isBrowserOrigin(request.header('origin'))
}

/** Stages of the orchestrator put their own name there (clients, 1.7 B); a browser puts a scheme, or `null` (Fetch, 3.2). */
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
    'a page of another origin sent this request: without a token only programs and pages of this service may change something',
    { code: 'cross_origin' },
  )
}

function isOwnOrigin(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined && origin === new URL(publicUrl).origin) return true
  // A proxy may have taken the TLS off, so that the scheme tells nothing.
  return [`http://${host}`, `https://${host}`].some((own) => origin === own.toLowerCase())
}

function hostNotAllowed(host: string): AppError {
  return new AppError(
    'forbidden',
    `the Host header names ${JSON.stringify(host)}, which is no known name of this service: ask it as localhost, or list the name in server.allowedHosts`,
    { code: 'host_not_allowed' },
  )
}

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
