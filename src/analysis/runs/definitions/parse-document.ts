import { parse } from 'yaml'
import { AppError, toError } from '../../../errors/app-error.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../../../lib/json/scan/nesting.js'

/** Hundreds of metrics with all their members, or as many services with their scopes, are half of it. */
const MAX_VALUES = 10_000
const TOO_DEEP = `the document is nested more than ${MAX_NESTING} levels deep`
const TOO_MANY = `the document holds more than ${MAX_VALUES} values`

/**
 * A document in JSON, as the API takes and keeps them. Raises `invalid` saying where it is malformed, that it is nested too
 * deeply, or that it holds more values than can be checked while decisions wait.
 */
export function parseJsonDocument(text: string): unknown {
  if (nestsDeeper(text, MAX_NESTING)) throw new AppError('invalid', TOO_DEEP)
  if (holdsMoreValues(text, MAX_VALUES)) throw new AppError('invalid', TOO_MANY)
  try {
    return JSON.parse(text)
  } catch (raw) {
    throw new AppError('invalid', `the document is not JSON: ${toError(raw).message}`, { cause: raw })
  }
}

/**
 * A document in JSON or in YAML, from a file of the person who runs the service: a parser of YAML takes minutes for megabytes and
 * has no business with what comes over the wire. Raises `invalid` saying where it is malformed.
 */
export function parseDocumentFile(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return parseYaml(text)
  }
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (raw) {
    throw new AppError('invalid', `the document is neither JSON nor YAML: ${toError(raw).message}`, {
      cause: raw,
    })
  }
}
