import { printWithJsonText } from '../../lib/json/text/json-text.js'
import { JSON_TYPE } from './exchange.js'
import type { Exchange } from './exchange.js'

type ExtraHeaders = Readonly<Record<string, string>>

/**
 * The one way in which a route answers with JSON: its type says the charset, as strict callers need, and what is `JsonText`
 * stays as it is.
 */
export function jsonAnswer(value: unknown, status = 200, headers: ExtraHeaders = {}): Response {
  return jsonTextAnswer(printWithJsonText(value), status, headers)
}

/** The same for a document that is JSON text already. */
export function jsonTextAnswer(text: string, status = 200, headers: ExtraHeaders = {}): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { 'Content-Type': JSON_TYPE, ...headers },
  })
}

/** The same on the exchange itself. */
export function sendJson(exchange: Exchange, value: unknown, status = 200, headers: ExtraHeaders = {}): void {
  exchange.send(status, `${printWithJsonText(value)}\n`, JSON_TYPE, Object.entries(headers).flat())
}
