import { parse } from 'yaml'
import { AppError, toError } from '../../errors.js'

/** A document in YAML, and so also in JSON. Raises `invalid` saying where it is malformed. */
export function parseDocument(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (raw) {
    throw new AppError('invalid', `the document is neither JSON nor YAML: ${toError(raw).message}`, {
      cause: raw,
    })
  }
}
