import { isIPv6 } from 'node:net'

import { BuiltinError } from '../shared/builtin.js'
import { quoteGoString } from '../go-format/quote.js'

/** The parts of a URL in Go's net/url. */
export interface GoUrl {
  /** In lower case; empty for a relative URL. */
  readonly scheme: string
  /** The part after a scheme without a slash: `x@y` of `mailto:x@y`. */
  readonly opaque: string
  readonly hasUser: boolean
  /** Includes the port if there is one. */
  readonly host: string
  /** Decoded. */
  readonly path: string
  /** As written if that is valid, else escaped again. */
  readonly escapedPath: string
  /** As written if Go's escaping of `path` differs, else empty. */
  readonly rawPath: string
  /** As written. */
  readonly query: string
  /** True if the URL ends with an empty query (`?`). */
  readonly forceQuery: boolean
  readonly fragment: string
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
const CONTROL = /\p{ASCII}(?<=\p{Cc})/u
const USER_INFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/
const PORT = /^(?::\d*)?$/
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2}).{0,2}/s
/** Go refuses escapes in host names, except for bytes outside of ASCII. */
const BAD_HOST_ESCAPE = /%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}/s
const BAD_HOST_CHARACTER = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u
const ESCAPED_PATH = /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/
/** Bytes that Go does not escape in a path. */
const PLAIN_PATH_BYTES = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@'),
)

/** Parses a URL like Go's url.Parse. Throws BuiltinError with Go's message. */
export function parseGoUrl(url: string): GoUrl {
  const [withoutFragment, fragment] = cut(url, '#')
  try {
    if (CONTROL.test(withoutFragment)) throw new BuiltinError('net/url: invalid control character in URL')
    const parsed = parseWithoutFragment(withoutFragment)
    rejectBadEscape(fragment)
    return { ...parsed, fragment: unescapeBytes(fragment).toString('utf8') }
  } catch (raw) {
    if (!(raw instanceof BuiltinError)) throw raw
    throw new BuiltinError(`parse ${quoteGoString(withoutFragment)}: ${raw.message}`)
  }
}

function parseWithoutFragment(url: string): Omit<GoUrl, 'fragment'> {
  if (url.startsWith(':')) throw new BuiltinError('missing protocol scheme')
  const prefix = SCHEME.exec(url)?.[0] ?? ''
  const [hierarchy, query] = cut(url.slice(prefix.length), '?')
  const forceQuery = query === '' && url.endsWith('?')
  const common = { scheme: prefix.slice(0, -1).toLowerCase(), query, forceQuery, opaque: '' }
  const absent = { hasUser: false, host: '' }
  if (!hierarchy.startsWith('/')) {
    if (prefix !== '') return { ...common, ...absent, ...parsePath(''), opaque: hierarchy }
    if (cut(hierarchy, '/')[0].includes(':')) {
      throw new BuiltinError('first path segment in URL cannot contain colon')
    }
  }
  const hasAuthority = hierarchy.startsWith('//') && (prefix !== '' || !hierarchy.startsWith('///'))
  if (!hasAuthority) return { ...common, ...absent, ...parsePath(hierarchy) }
  const slash = hierarchy.indexOf('/', 2)
  const end = slash < 0 ? hierarchy.length : slash
  return { ...common, ...parseAuthority(hierarchy.slice(2, end)), ...parsePath(hierarchy.slice(end)) }
}

function parseAuthority(authority: string): Pick<GoUrl, 'hasUser' | 'host'> {
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  rejectBadPort(host)
  rejectBadAddress(host)
  rejectMatch(BAD_HOST_ESCAPE, host, (found) => `invalid URL escape ${quoteGoString(found)}`)
  rejectMatch(BAD_HOST_CHARACTER, host, (found) => `invalid character ${quoteGoString(found)} in host name`)
  if (at >= 0 && !USER_INFO.test(authority.slice(0, at))) throw new BuiltinError('net/url: invalid userinfo')
  return { hasUser: at >= 0, host: unescapeBytes(host).toString('utf8') }
}

/** Brackets contain an IPv6 address, optionally with a zone. */
function rejectBadAddress(host: string): void {
  if (!host.startsWith('[')) return
  const [address] = cut(host.slice(1, host.lastIndexOf(']')), '%25')
  if (!isIPv6(address)) throw new BuiltinError(`invalid host: ${quoteGoString(host)}`)
}

function rejectBadPort(host: string): void {
  const bracket = host.lastIndexOf(']')
  if (host.startsWith('[') && bracket < 0) throw new BuiltinError("missing ']' in host")
  const colon = host.lastIndexOf(':')
  const start = host.startsWith('[') ? bracket + 1 : colon
  const port = start < 0 ? '' : host.slice(start)
  if (!PORT.test(port)) throw new BuiltinError(`invalid port ${quoteGoString(port)} after host`)
}

function parsePath(written: string): Pick<GoUrl, 'path' | 'escapedPath' | 'rawPath'> {
  rejectBadEscape(written)
  const bytes = unescapeBytes(written)
  const standard = [...bytes].map(escapeByte).join('')
  return {
    path: bytes.toString('utf8'),
    escapedPath: ESCAPED_PATH.test(written) ? written : standard,
    rawPath: written === standard ? '' : written,
  }
}

function escapeByte(byte: number): string {
  if (PLAIN_PATH_BYTES.has(byte)) return String.fromCharCode(byte)
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/** Decodes `%41` to its byte. All escapes must be valid. */
function unescapeBytes(text: string): Buffer {
  const pieces = text.split(/(%[0-9A-Fa-f]{2})/)
  const bytes = pieces.map((piece, i) =>
    i % 2 === 1 ? Buffer.from(piece.slice(1), 'hex') : Buffer.from(piece),
  )
  return Buffer.concat(bytes)
}

function rejectBadEscape(text: string): void {
  rejectMatch(BAD_ESCAPE, text, (found) => `invalid URL escape ${quoteGoString(found)}`)
}

function rejectMatch(pattern: RegExp, text: string, message: (found: string) => string): void {
  const found = pattern.exec(text)?.[0]
  if (found !== undefined) throw new BuiltinError(message(found))
}

/** Splits a text at the first `sign`. */
function cut(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
