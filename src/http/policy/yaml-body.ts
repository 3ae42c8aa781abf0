import type { IncomingMessage } from 'node:http'

import { AppError, toError } from '../../errors.js'
import { readYaml } from '../../pdp/builtins/yaml/read-yaml.js'
import { printJson } from '../../pdp/rego/print-text.js'

/** The body as JSON: read as YAML where its type says so, as OPA does; every other type is taken for JSON. */
export function yamlToJson(request: IncomingMessage, body: Uint8Array): Uint8Array {
  if (request.headers['content-type']?.includes('yaml') !== true) return body
  try {
    return Buffer.from(printJson(readYaml(Buffer.from(body).toString())))
  } catch (cause) {
    throw new AppError('invalid', `body contains malformed input document: yaml: ${toError(cause).message}`, {
      cause,
    })
  }
}
