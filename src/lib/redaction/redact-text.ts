import { isUtf8 } from 'node:buffer'

import { AppError } from '../../errors.js'
import { MAX_NESTING, nestsDeeper } from '../json/nesting.js'
import { refuseMalformed } from '../json/refuse-malformed.js'
import { REDACTION_MARK } from './redaction-mark.js'
import { REDACTED } from './redacted.js'
import type { Redacted } from './redacted.js'
import { mayHoldSecrets } from './secret-names.js'

/** Redacts the JSON inside a text; undefined where it holds no secret. */
export type EmbeddedRedactor = (json: Buffer) => Redacted | undefined

const JSON_START = /^\s*[[{]/
const BASE64 = /^[eW][w-z0-9+/_-][A-Za-z0-9+/_-]*={0,2}$/
const PEM_PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/**
 * A text, given as UTF-8, as a JSON string literal without the secrets of the JSON in it, be it plain or Base64, and without
 * private keys; undefined where it may stay. Where `redactEmbedded` is absent, JSON that may hold secrets goes altogether.
 */
export function redactText(text: Buffer, redactEmbedded: EmbeddedRedactor | undefined): Redacted | undefined {
  const value = text.toString()
  if (JSON_START.test(value)) {
    const inner = redactInner(text, redactEmbedded)
    if (inner !== undefined) return { ...inner, text: literal(inner.text.toString()) }
  } else if (BASE64.test(value)) {
    const inner = redactInner(Buffer.from(value, 'base64'), redactEmbedded)
    if (inner !== undefined) return { ...inner, text: literal(inner.text.toString('base64')) }
  }
  return PEM_PRIVATE_KEY.test(value) ? { text: REDACTED, count: 1, names: ['(private key)'] } : undefined
}

function redactInner(json: Buffer, redactEmbedded: EmbeddedRedactor | undefined): Redacted | undefined {
  if (!isUtf8(json) || !mayHoldSecrets(json.toString('latin1')) || !isJson(json)) return undefined
  if (redactEmbedded !== undefined && !nestsDeeper(json.toString(), MAX_NESTING)) return redactEmbedded(json)
  return { text: Buffer.from(REDACTION_MARK), count: 1, names: ['(embedded text)'] }
}

function isJson(bytes: Buffer): boolean {
  try {
    refuseMalformed(bytes)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

function literal(text: string): Buffer {
  return Buffer.from(JSON.stringify(text))
}
