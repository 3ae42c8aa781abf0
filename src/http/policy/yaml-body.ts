import { AppError, toError } from '../../errors.js'
import { scanSpace } from '../../lib/json/scan-space.js'
import { scanValue } from '../../lib/json/scan-value.js'
import { readYaml } from '../../pdp/builtins/yaml/read-yaml.js'
import { printJson } from '../../pdp/rego/print-text.js'
import type { Exchange } from '../exchange.js'

/**
 * The body as JSON. Where its type says YAML it is read as JSON first and else as YAML, as OPA does; every other type is
 * taken for JSON. Raises `invalid`, with `errorPrefix` before the reason, for what is neither.
 */
export function yamlToJson(exchange: Exchange, body: Uint8Array, errorPrefix = 'body contains'): Uint8Array {
  if (exchange.header('content-type')?.includes('yaml') !== true || isJson(body)) return body
  try {
    return Buffer.from(printJson(readYaml(Buffer.from(body).toString())))
  } catch (cause) {
    throw new AppError('invalid', `${errorPrefix} malformed input document: ${toError(cause).message}`, {
      cause,
    })
  }
}

function isJson(body: Uint8Array): boolean {
  try {
    return scanSpace(body, scanValue(body, 0)) === body.length
  } catch {
    return false
  }
}
