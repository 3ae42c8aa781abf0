import { AppError } from '../../errors/app-error.js'
import type { Exchange } from './exchange.js'

/**
 * A Host header with an optional port (RFC 9110, 7.2) and no characters that could redirect a link.
 */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/**
 * Returns the base URL for links in responses, without a trailing slash: the configured URL, or the
 * host of this request. Raises `invalid` if the request has no usable host.
 */
export function baseUrl(exchange: Exchange, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  const host = exchange.header('host') ?? ''
  if (HOST.test(host)) return `${exchange.isTls ? 'https' : 'http'}://${host}`
  throw new AppError('invalid', 'The Host header contains no usable host for links. Set server.publicUrl.')
}
