import { parseJsonDocument } from '../../analysis/runs/definitions/parse-document.js'
import { AppError } from '../../errors/app-error.js'
import { replaceLoneSurrogates } from '../../lib/json/text/lone-surrogates.js'
import type { Exchange } from '../exchange/exchange.js'
import { readJsonText } from './read-json-body.js'
import { withLimitMessage } from '../exchange/body-errors.js'

/** Whatever is kept as a template or a definition is read again for each analysis. */
const MAX_DOCUMENT_BYTES = 256 * 1024
/** What a plugin sends for hundreds of services is a tenth of it. */
const MAX_REGISTRATION_BYTES = 1024 * 1024

/** A document that was sent, as it is kept and as it was parsed. */
export interface SentDocument {
  readonly text: string
  readonly document: unknown
}

/**
 * A template or a definition, of at most 256 KiB of JSON; `what` names it in the error. Raises the errors of `readJsonText`, and
 * `invalid` for what is nested too deeply.
 */
export async function readSentDocument(
  exchange: Exchange,
  maxBodyBytes: number,
  what: string,
): Promise<SentDocument> {
  return await readUpTo(exchange, Math.min(maxBodyBytes, MAX_DOCUMENT_BYTES), what)
}

/** The same for a text that a form has brought. */
export function readDocumentText(given: string, what: string): SentDocument {
  const bytes = replaceLoneSurrogates(Buffer.from(given))
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new AppError('too_large', `${what} is over the limit of ${MAX_DOCUMENT_BYTES} bytes`)
  }
  const text = Buffer.from(bytes).toString()
  return { text, document: parseJsonDocument(text) }
}

/** The registration of an analysis, of at most 1 MiB of JSON. Raises the same errors. */
export async function readSentRegistration(exchange: Exchange, maxBodyBytes: number): Promise<unknown> {
  const limit = Math.min(maxBodyBytes, MAX_REGISTRATION_BYTES)
  return (await readUpTo(exchange, limit, 'the registration')).document
}

async function readUpTo(exchange: Exchange, limit: number, what: string): Promise<SentDocument> {
  const bytes = await withLimitMessage(
    readJsonText(exchange, limit),
    `${what} is over the limit of ${limit} bytes`,
  )
  const text = Buffer.from(bytes).toString()
  return { text, document: parseJsonDocument(text) }
}
