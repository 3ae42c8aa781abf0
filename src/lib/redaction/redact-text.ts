import { isUtf8 } from 'node:buffer'

import { MAX_NESTING, nestsDeeper } from '../json/scan/nesting.js'
import { isWellFormed } from '../json/scan/locate-value.js'
import { mayHoldSecrets } from './find-signs.js'
import { redactInline, withoutCutSecret } from './inline-secrets.js'
import { REDACTION_MARK, REDACTED } from './redacted.js'
import type { Redacted } from './redacted.js'

/** Redacts the JSON inside a text; undefined where it holds no secret. */
export type EmbeddedRedactor = (json: Buffer) => Redacted | undefined

/** What is known of a text beside itself. */
export interface TextSurroundings {
  /** Absent where texts inside texts are not followed any further: JSON that may hold secrets then goes altogether. */
  readonly redactEmbedded: EmbeddedRedactor | undefined
  /** Secrets of other texts that this one may quote. */
  readonly known: readonly string[]
  /** Whether its end is missing. */
  readonly isCut: boolean
}

const JSON_START = /^\s*[[{]/
/** Of `{` or `[` and of what may follow these. */
const BASE64 = /^(?:e[wy]|W[wyz1-3])[A-Za-z0-9+/_-]*={0,2}$/
const PEM_PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/

/**
 * A text, given as UTF-8, as a JSON string literal without the secrets of the JSON in it, be it plain or Base64, without
 * private keys, and without what is a secret by its form; undefined where it may stay.
 */
export function redactText(text: Buffer, surroundings: TextSurroundings): Redacted | undefined {
  const value = text.toString()
  const embedded = redactWhole(text, value, surroundings)
  if (embedded !== undefined) return embedded
  if (PEM_PRIVATE_KEY.test(value)) return whole('(private key)', [])
  return redactPlain(value, surroundings)
}

/** A text as JSON that holds secrets, plain or as Base64. */
function redactWhole(text: Buffer, value: string, surroundings: TextSurroundings): Redacted | undefined {
  const isPlain = JSON_START.test(value)
  if (!isPlain && !BASE64.test(value)) return undefined
  const json = isPlain ? text : Buffer.from(value, 'base64')
  if (surroundings.isCut) return mayHoldSecrets(json) ? whole('(embedded text)', []) : undefined
  const inner = redactInner(json, surroundings.redactEmbedded)
  return inner && { ...inner, text: literal(inner.text.toString(isPlain ? 'utf8' : 'base64')) }
}

function redactInner(json: Buffer, redactEmbedded: EmbeddedRedactor | undefined): Redacted | undefined {
  if (!isUtf8(json) || !mayHoldSecrets(json) || !isWellFormed(json)) return undefined
  if (redactEmbedded !== undefined && !nestsDeeper(json.toString(), MAX_NESTING)) return redactEmbedded(json)
  return { text: Buffer.from(REDACTION_MARK), count: 1, names: ['(embedded text)'], values: [] }
}

function redactPlain(value: string, { known, isCut }: TextSurroundings): Redacted | undefined {
  const quoted = known.reduce((text, secret) => text.replaceAll(secret, REDACTION_MARK), value)
  const inline = redactInline(quoted)
  const redacted = inline?.text ?? quoted
  const shown = isCut ? withoutCutSecret(redacted) : redacted
  if (shown === value) return undefined
  const { count = 1, names = ['(quoted)'], values = [] } = inline ?? {}
  return { text: literal(shown), count, names, values }
}

function whole(name: string, values: readonly string[]): Redacted {
  return { text: REDACTED, count: 1, names: [name], values }
}

function literal(text: string): Buffer {
  return Buffer.from(JSON.stringify(text))
}

/** A text for people, such as a query or an error, without what is a secret in it by its form: credentials in URLs, tokens, `password=…`. */
export function redactWords(text: string): string {
  return redactInline(text)?.text ?? text
}
