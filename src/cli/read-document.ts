import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../errors.js'
import { toUtf8 } from '../lib/json/decode-text.js'
import { refuseMalformed } from '../lib/json/refuse-malformed.js'
import type { Terminal } from './terminal.js'

/** How standard input is written in place of a file. */
export const STDIN = '-'

/**
 * The JSON text of a document: a file, or `-` for standard input; `.yaml` and `.yml` files are turned into JSON.
 * Raises `invalid` naming the file when it cannot be read or is not well-formed.
 */
export async function readDocument(file: string, terminal: Terminal): Promise<Uint8Array> {
  const name = file === STDIN ? 'standard input' : file
  const bytes = await readBytes(file, terminal)
  try {
    if (/\.ya?ml$/i.test(file)) return await yamlToJson(bytes)
    const text = toUtf8(bytes)
    refuseMalformed(text)
    return text
  } catch (raw) {
    throw new AppError('invalid', `${name}: ${toError(raw).message}`, { cause: raw })
  }
}

async function readBytes(file: string, terminal: Terminal): Promise<Buffer> {
  if (file === STDIN) return await terminal.readStdin()
  try {
    return await readFile(file)
  } catch (raw) {
    throw new AppError('invalid', `read ${file}: ${readFailure(raw)}`, { cause: raw })
  }
}

/** What the system says without its own copy of the path. */
export function readFailure(raw: unknown): string {
  return toError(raw).message.replace(/, \w+(?: '.*')?$/s, '')
}

async function yamlToJson(bytes: Buffer): Promise<Buffer> {
  const { readYaml } = await import('../pdp/builtins/yaml/read-yaml.js')
  const { printJson } = await import('../pdp/rego/print-text.js')
  return Buffer.from(printJson(readYaml(bytes.toString('utf8'))))
}
