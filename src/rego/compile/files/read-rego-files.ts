import { isUtf8 } from 'node:buffer'

import type { ErrorDetail } from '../../../errors/app-error.js'
import { readWhole } from '../../../lib/read-files.js'
import type { RegoFile } from '../../modules/rego-module.js'
import { unreadable } from './list-source-files.js'
import { spellNumbers } from '../../workarounds/numbers-without-integer-part.js'

/** A Rego file, and the location of text that is not UTF-8. */
export interface ReadRego {
  readonly file: RegoFile
  readonly malformed: readonly ErrorDetail[]
}

/** Reads a Rego file. Raises `invalid` if it cannot be read. */
export async function readRegoFile(file: string): Promise<ReadRego> {
  const content = await readContent(file)
  const source = content.toString('utf8')
  const text = spellNumbers(source)
  return {
    file: text === source ? { file, text } : { file, text, source },
    malformed: malformedText(file, content),
  }
}

/** Raises `invalid` for a file that cannot be read. */
export async function readContent(file: string): Promise<Buffer> {
  try {
    return await readWhole(file)
  } catch (raw) {
    throw unreadable(file, raw)
  }
}

/** Returns the first location that is not UTF-8, as OPA reports it. */
function malformedText(file: string, content: Buffer): ErrorDetail[] {
  if (isUtf8(content)) return []
  const lines = content.toString('latin1').split('\n')
  const row = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
  const before = Buffer.from(lines[row] ?? '', 'latin1').toString('utf8')
  const location = { file, row: row + 1, col: before.indexOf('\ufffd') + 1 }
  return [{ code: 'rego_parse_error', message: 'illegal utf-8 character', location }]
}
