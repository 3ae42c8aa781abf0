import { isUtf8 } from 'node:buffer'

import { MAX_NESTING, nestsDeeper } from '../json/scan/nesting.js'
import { isWellFormed } from '../json/scan/locate-value.js'
import { replaceBase64Text } from './base64-text.js'
import { redactInline, withoutCutSecret } from './inline-secrets.js'
import type { InlineRedaction } from './inline-secrets.js'
import { REDACTION_MARK } from './redacted.js'
import type { Redacted } from './redacted.js'
import { mayHoldSecrets } from './secret-patterns.js'

/** Redacts JSON at a depth of embedding. Undefined if it contains no secret. */
export type EmbeddedRedactor = (json: Buffer, embeddings: number) => Redacted | undefined

export interface TextSurroundings {
  readonly redactEmbedded: EmbeddedRedactor
  /** Number of strings in which it is embedded. */
  readonly embeddings: number
  /** Known secrets of other strings that this one may quote. */
  readonly known: readonly string[]
  /** Whether its end is missing. */
  readonly isCut: boolean
}

/**
 * Maximum depth of texts inside texts. Deeper ones that may contain a secret are redacted
 * completely.
 */
const MAX_EMBEDDINGS = 8
const JSON_START = /^\s*[[{]/
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d/

/**
 * Redacts a string, given as UTF-8: secrets in embedded JSON and Base64, private keys, and secrets
 * recognized by their form. Returns a JSON string literal, or undefined if nothing is redacted.
 */
export function redactText(text: Buffer, surroundings: TextSurroundings): Redacted | undefined {
  const redacted = redactString(text, surroundings)
  return redacted && { ...redacted, text: Buffer.from(JSON.stringify(redacted.text)) }
}

function redactString(text: Buffer, surroundings: TextSurroundings): InlineRedaction | undefined {
  const value = text.toString()
  const json = JSON_START.test(value) ? redactJson(text, surroundings) : undefined
  if (json !== undefined) return json
  return PRIVATE_KEY.test(value) ? whole('(private key)') : redactPlain(value, surroundings)
}

function redactJson(json: Buffer, surroundings: TextSurroundings): InlineRedaction | undefined {
  const { redactEmbedded, embeddings, isCut } = surroundings
  if (!isUtf8(json) || !mayHoldSecrets(json)) return undefined
  if (isCut) return whole('(embedded text)')
  if (!isWellFormed(json)) return undefined
  if (embeddings >= MAX_EMBEDDINGS || nestsDeeper(json.toString(), MAX_NESTING))
    return whole('(embedded text)')
  const redacted = redactEmbedded(json, embeddings + 1)
  return redacted && { ...redacted, text: redacted.text.toString() }
}

function redactPlain(value: string, surroundings: TextSurroundings): InlineRedaction | undefined {
  const { known, isCut, embeddings } = surroundings
  const parts: InlineRedaction[] = []
  const quoted = known.reduce((text, secret) => text.replaceAll(secret, REDACTION_MARK), value)
  const decoded = replaceBase64Text(quoted, isCut, (text, isTextCut) => {
    if (!mayHoldSecrets(text) && !isTextCut) return undefined
    const inner = { ...surroundings, isCut: isTextCut, embeddings: embeddings + 1 }
    const redacted = embeddings >= MAX_EMBEDDINGS ? whole('(embedded text)') : redactString(text, inner)
    if (redacted !== undefined) parts.push(redacted)
    return redacted?.text
  })
  const inline = redactInline(decoded)
  if (inline !== undefined) parts.push(inline)
  const redacted = inline?.text ?? decoded
  const shown = isCut ? withoutCutSecret(redacted) : redacted
  if (shown === value) return undefined
  return {
    text: shown,
    count: parts.reduce((sum, { count }) => sum + count, 0) || 1,
    names: parts.length === 0 ? ['(quoted)'] : parts.flatMap(({ names }) => names),
    values: parts.flatMap(({ values }) => values),
  }
}

function whole(name: string): InlineRedaction {
  return { text: REDACTION_MARK, count: 1, names: [name], values: [] }
}

/**
 * Redacts a text for people, such as a query or an error: credentials in URLs, tokens,
 * `password=…`.
 */
export function redactWords(text: string): string {
  return redactInline(text)?.text ?? text
}
