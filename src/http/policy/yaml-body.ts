import { AppError } from '../../errors/app-error.js'
import { scanSpace, scanValue } from '../../lib/json/scan/scan-value.js'
import type { Exchange } from '../exchange/exchange.js'
import type { PolicyContext } from './policy-context.js'

/** A parser of YAML takes seconds for what a parser of JSON takes milliseconds for. */
const MAX_YAML_BYTES = 256 * 1024

/**
 * The body as JSON. Where its type says YAML it is read as JSON first and else as YAML, as OPA does, but elsewhere than on this
 * thread; every other type is taken for JSON. Raises `invalid`, with `errorPrefix` before the reason, for what is neither, and
 * `too_large` for YAML over 256 KiB or beyond what may be spent on it.
 */
export function yamlToJson(
  { readYaml, maxBodyBytes }: PolicyContext,
  exchange: Exchange,
  body: Uint8Array,
  errorPrefix = 'body contains',
): Uint8Array | Promise<Uint8Array> {
  if (exchange.header('content-type')?.includes('yaml') !== true || isJson(body)) return body
  if (body.length > MAX_YAML_BYTES) {
    throw new AppError(
      'too_large',
      `a body in YAML may be ${MAX_YAML_BYTES} bytes long, this one is ${body.length}: send it as JSON`,
    )
  }
  return readYaml(Buffer.from(body).toString(), maxBodyBytes).then(
    (json) => Buffer.from(json),
    (error: unknown) => {
      if (!(error instanceof AppError) || error.kind !== 'invalid') throw error
      const message = `${errorPrefix} malformed input document: ${error.message}`
      throw new AppError('invalid', message, { cause: error })
    },
  )
}

function isJson(body: Uint8Array): boolean {
  try {
    return scanSpace(body, scanValue(body, 0)) === body.length
  } catch {
    return false
  }
}
