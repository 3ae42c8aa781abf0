import { JSON_TYPE } from './exchange.js'

type ExtraHeaders = Readonly<Record<string, string>>

/** The one way in which a route answers with JSON: a line of it, its type with the charset that strict callers need. */
export function jsonAnswer(value: unknown, status = 200, headers: ExtraHeaders = {}): Response {
  return jsonTextAnswer(JSON.stringify(value), status, headers)
}

/** The same for what is JSON text already, so that numbers keep all their digits. */
export function jsonTextAnswer(text: string, status = 200, headers: ExtraHeaders = {}): Response {
  return new Response(`${text}\n`, { status, headers: { 'Content-Type': JSON_TYPE, ...headers } })
}
