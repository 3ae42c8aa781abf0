import type { IncomingMessage } from 'node:http'

import { AppError } from '../../../errors/app-error.js'

/** Where a request goes, by its target and its Host header together. */
export interface Authority {
  /** The target in origin form: a path and perhaps a query. */
  readonly url: string
  /** What counts as the Host header; undefined where an HTTP/1.0 request has none. */
  readonly host: string | undefined
}

const ABSOLUTE = /^https?:\/\/(?<host>[^/?#@\\]*)(?<rest>(?:[/?#].*)?)$/i

/**
 * The authority of a request as RFC 9112, 3.2 reads it: one Host header, which HTTP/1.1 must have; the authority of an absolute target counts
 * instead of it. Raises `invalid` where there are more, none, or an absolute target names no host.
 */
export function readAuthority(
  request: Pick<IncomingMessage, 'url' | 'httpVersion' | 'headersDistinct'>,
): Authority {
  const headers = request.headersDistinct['host'] ?? []
  if (headers.length > 1) throw invalid('the request has more than one Host header')
  const [host] = headers
  if (host === undefined && request.httpVersion === '1.1') throw invalid('the request has no Host header')
  const url = request.url ?? '/'
  if (url.startsWith('/') || !/^https?:/i.test(url)) return { url, host }
  const { host: named = '', rest = '' } = ABSOLUTE.exec(url)?.groups ?? {}
  if (named === '') throw invalid('the target of the request is a URL that names no host')
  return { url: rest.startsWith('/') ? rest : `/${rest}`, host: named }
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_request' })
}
