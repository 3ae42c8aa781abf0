import { AppError } from '../../errors/app-error.js'
import type { Exchange } from './exchange.js'

/** A host with or without a port, as a Host header names it (RFC 9110, 7.2): nothing that could lead elsewhere. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/**
 * Where the links that an answer gives out lead, without a slash at its end: the configured URL, else the host that this caller itself reached the
 * service by. Raises `invalid` for a request that names no usable host.
 */
export function baseUrl(exchange: Exchange, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  const host = exchange.header('host') ?? ''
  if (HOST.test(host)) return `${exchange.isTls ? 'https' : 'http'}://${host}`
  throw new AppError('invalid', 'the Host header names no host to build links with: set server.publicUrl')
}
