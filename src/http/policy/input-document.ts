import { AppError } from '../../errors/app-error.js'
import { scanSpace, scanValue } from '../../lib/json/scan/scan-value.js'
import type { Exchange } from '../exchange/exchange.js'
import type { PolicyContext } from './policy-context.js'
import { yamlToJson } from './yaml-body.js'

/** How the errors begin, by where the input stands. */
const BODY = 'unexpected parse error for input: body contains'
const PARAMETER = 'parameter contains'
const NULL_INPUT = Buffer.from('null')

/** The body of an operation whose body is the input itself; an empty one is null, as in OPA. Raises `invalid`. */
export async function parseInputBody(
  context: PolicyContext,
  exchange: Exchange,
  body: Uint8Array,
): Promise<Uint8Array> {
  const json = await yamlToJson(context, exchange, body, BODY)
  return scanSpace(json, 0) === json.length ? NULL_INPUT : json.subarray(0, scanInput(json, BODY))
}

/** The input in the query of a GET, after which nothing may follow. Raises `invalid`. */
export function parseInputParameter(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  if (scanSpace(bytes, 0) === bytes.length) throw malformedInput(PARAMETER, 'EOF')
  const end = scanInput(bytes, PARAMETER)
  const rest = scanSpace(bytes, end)
  if (rest === bytes.length) return bytes.subarray(0, end)
  const next = bytes.toString('utf8', rest).charAt(0)
  throw malformedInput(PARAMETER, `error: invalid character '${next}' after top-level value`)
}

function scanInput(bytes: Uint8Array, errorPrefix: string): number {
  try {
    return scanValue(bytes, 0)
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    throw malformedInput(errorPrefix, cause.message, cause)
  }
}

function malformedInput(prefix: string, reason: string, cause?: AppError): AppError {
  return new AppError('invalid', `${prefix} malformed input document: ${reason}`, { cause })
}
