import { parseJsonDocument } from '../../analysis/runs/definitions/parse-document.js'
import { AppError } from '../../errors/app-error.js'
import { replaceLoneSurrogates } from '../../lib/json/text/lone-surrogates.js'
import type { Exchange } from '../exchange/exchange.js'
import { readJsonText } from './read-json-body.js'
import { withLimitMessage } from '../exchange/body-errors.js'

/** Templates and definitions are parsed again for each analysis. */
const MAX_DOCUMENT_BYTES = 256 * 1024
/** A plugin's registration of hundreds of services is a tenth of this. */
const MAX_REGISTRATION_BYTES = 1024 * 1024

/** A document as text and parsed. */
export interface SentDocument {
  readonly text: string
  readonly document: unknown
}

/**
 * Reads a template or definition of at most 256 KiB of JSON; `what` names it in errors. Raises the
 * errors of `readJsonText`, and `invalid` if it is nested too deeply.
 */
export async function readSentDocument(
  exchange: Exchange,
  maxBodyBytes: number,
  what: string,
): Promise<SentDocument> {
  return await readUpTo(exchange, Math.min(maxBodyBytes, MAX_DOCUMENT_BYTES), what)
}

/** Parses a document from a form field. Raises `too_large` and `invalid`. */
export function readDocumentText(given: string, what: string): SentDocument {
  const bytes = replaceLoneSurrogates(Buffer.from(given))
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new AppError('too_large', `${what} exceeds ${MAX_DOCUMENT_BYTES} bytes`)
  }
  const text = Buffer.from(bytes).toString()
  return { text, document: parseJsonDocument(text) }
}

/**
 * Reads the registration of an analysis, at most 1 MiB of JSON. Raises the errors of
 * `readSentDocument`.
 */
export async function readSentRegistration(exchange: Exchange, maxBodyBytes: number): Promise<unknown> {
  const limit = Math.min(maxBodyBytes, MAX_REGISTRATION_BYTES)
  return (await readUpTo(exchange, limit, 'the registration')).document
}

async function readUpTo(exchange: Exchange, limit: number, what: string): Promise<SentDocument> {
  const bytes = await withLimitMessage(readJsonText(exchange, limit), `${what} exceeds ${limit} bytes`)
  const text = Buffer.from(bytes).toString()
  return { text, document: parseJsonDocument(text) }
}
