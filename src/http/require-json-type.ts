import { AppError } from '../errors.js'
import type { Exchange } from './exchange.js'

const JSON_MEDIA_TYPE = /^\s*application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i

/** Raises `unsupported_media_type` unless the request says that its body is JSON. */
export function requireJsonType(exchange: Exchange): void {
  const type = exchange.header('content-type')
  if (type !== undefined && JSON_MEDIA_TYPE.test(type)) return
  const got = type === undefined ? 'the request has none' : `got ${type}`
  throw new AppError('unsupported_media_type', `this operation needs Content-Type: application/json; ${got}`)
}
