import { isUtf8 } from 'node:buffer'

import { AppError, toError } from '../../errors/app-error.js'
import { scanValue } from '../../lib/json/scan/scan-value.js'
import { readYaml } from '../builtins/yaml/read-yaml.js'
import { UNMETERED_WORK } from '../metering/work-meter.js'
import { printJson } from '../values/print-text.js'
import type { DataBuilder } from '../wasm/data/data-builder.js'

/**
 * Returns the content of a `data.json` or `data.yaml` as JSON in UTF-8, with numbers as written.
 * Raises `invalid`, naming the file.
 */
export function toJson(file: string, content: Uint8Array): Uint8Array {
  if (file.endsWith('.json')) return isUtf8(content) ? content : Buffer.from(textOf(content))
  return naming(file, () => Buffer.from(printJson(readYaml(textOf(content), UNMETERED_WORK))))
}

/**
 * Parses a file's JSON and returns the address of the value. Raises `invalid`, naming the file, if
 * it is malformed, does not fit into memory, or has too many keys with the same hash.
 */
export function parseJson(builder: DataBuilder, file: string, json: Uint8Array): number {
  return naming(file, () => {
    const read = builder.read(json)
    if (read?.end === json.length) return read.address
    // The builder does not say where the JSON is malformed. The scanner raises an error that names
    // the location. If it accepts the JSON, the builder failed for one of the two reasons below.
    scanValue(json, 0)
    throw new AppError(
      'invalid',
      read === undefined ? 'too many of its keys have the same hash' : 'text after the document',
    )
  })
}

export function naming<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (raw) {
    throw new AppError('invalid', `${file}: ${toError(raw).message}`, { cause: raw })
  }
}

/** Invalid UTF-8 is replaced, as in Go. */
function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString()
}
