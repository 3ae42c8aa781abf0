import { parse } from 'yaml'
import { AppError, toError } from '../../../errors/app-error.js'
import { MAX_NESTING, holdsMoreValues, nestsDeeper } from '../../../lib/json/scan/nesting.js'

/**
 * Maximum number of values: twice the number in hundreds of metrics with all their members, or in
 * as many services with their scopes.
 */
const MAX_VALUES = 10_000
const TOO_DEEP = `the document is nested more than ${MAX_NESTING} levels deep`
const TOO_MANY = `the document holds more than ${MAX_VALUES} values`

/**
 * Parses a JSON document of the API. Raises `invalid` with the location of malformed input, for
 * input that is nested too deeply, and for more values than can be checked without delaying
 * decisions.
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
 * Parses a JSON or YAML document from an operator's file. YAML is not accepted over the network,
 * since parsing megabytes of it takes minutes. Raises `invalid` with the location of malformed
 * input.
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
