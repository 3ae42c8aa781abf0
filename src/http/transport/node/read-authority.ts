import type { IncomingMessage } from 'node:http'

import { AppError } from '../../../errors/app-error.js'

/** Where a request goes, by its target and its Host header together. */
export interface Authority {
  /** The target in origin form: a path and perhaps a query. */
  readonly url: string
  /** What counts as the Host header; undefined where an HTTP/1.0 request has none. */
  readonly host: string | undefined
}

const HOST = 'host'
const ABSOLUTE = /^https?:\/\/(?<host>[^/?#@\\]*)(?<rest>(?:[/?#].*)?)$/i

/**
 * The authority of a request as RFC 9112, 3.2 reads it: one Host header, which HTTP/1.1 must have; the authority of an absolute target counts
 * instead of it. Raises `invalid` where there are more, none, or an absolute target names no host.
 */
export function readAuthority(
  request: Pick<IncomingMessage, 'url' | 'httpVersion' | 'rawHeaders'>,
): Authority {
  const host = hostIn(request.rawHeaders)
  if (host === undefined && request.httpVersion === '1.1') throw invalid('the request has no Host header')
  const url = request.url ?? '/'
  if (url.startsWith('/') || !/^https?:/i.test(url)) return { url, host }
  const { host: named = '', rest = '' } = ABSOLUTE.exec(url)?.groups ?? {}
  if (named === '') throw invalid('the target of the request is a URL that names no host')
  return { url: rest.startsWith('/') ? rest : `/${rest}`, host: named }
}

/** Raises `invalid` where there is more than one. Node's own lists of headers are made of all of them, for each request. */
function hostIn(rawHeaders: readonly string[]): string | undefined {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== HOST.length || name.toLowerCase() !== HOST) continue
    if (host !== undefined) throw invalid('the request has more than one Host header')
    host = rawHeaders[at + 1] ?? ''
  }
  return host
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_request' })
}
