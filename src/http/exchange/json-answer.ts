import { printWithJsonText } from '../../lib/json/text/json-text.js'
import { JSON_TYPE } from './exchange.js'
import type { Exchange } from './exchange.js'

type ExtraHeaders = Readonly<Record<string, string>>

/**
 * Returns a JSON response. Its type includes the charset, which strict clients require, and
 * `JsonText` values are inserted verbatim.
 */
export function jsonAnswer(value: unknown, status = 200, headers: ExtraHeaders = {}): Response {
  return jsonTextAnswer(printWithJsonText(value), status, headers)
}

/**
 * Returns a response with a document that is already JSON text. No cache may store it: callers may
 * be authenticated by certificates or their network, of which caches know nothing.
 */
export function jsonTextAnswer(text: string, status = 200, headers: ExtraHeaders = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store', ...headers },
  })
}

/** Sends a JSON response on the exchange. */
export function sendJson(exchange: Exchange, value: unknown, status = 200, headers: ExtraHeaders = {}): void {
  exchange.send(status, `${printWithJsonText(value)}\n`, JSON_TYPE, Object.entries(headers).flat())
}
