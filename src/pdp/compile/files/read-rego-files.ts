import { isUtf8 } from 'node:buffer'

import type { ErrorDetail } from '../../../errors/app-error.js'
import { readWhole } from '../../../lib/read-files.js'
import { unreadable } from './list-source-files.js'
import type { SourceFile } from './list-source-files.js'
import { spellNumbers } from './spell-numbers.js'

/** A Rego module as read: `file` is the path that a person knows it by. */
export interface RegoFile {
  readonly file: string
  readonly text: string
}

/** A file of Rego, and where it is no UTF-8. */
export interface ReadRego {
  readonly file: RegoFile
  readonly malformed: readonly ErrorDetail[]
}

/** Files of Rego as they were last read: only those that may have changed are read again. */
export class ReadRegoFiles {
  #before: ReadonlyMap<string, ReadRego> = new Map()
  #now = new Map<string, ReadRego>()

  /** What is read from now on is all that is remembered for the time after. */
  begin(): void {
    this.#before = this.#now
    this.#now = new Map()
  }

  /** What a file holds, at least as new as its version. Raises `invalid` where it cannot be read. */
  async read({ file, version, isSettled }: SourceFile): Promise<ReadRego> {
    const key = `${version} ${file}`
    const read = this.#before.get(key) ?? describe(file, await readContent(file))
    if (isSettled) this.#now.set(key, read)
    return read
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

function describe(file: string, content: Buffer): ReadRego {
  return {
    file: { file, text: spellNumbers(content.toString('utf8')) },
    malformed: malformedText(file, content),
  }
}

/** Where a text is no UTF-8, as OPA tells it: the first place. */
function malformedText(file: string, content: Buffer): ErrorDetail[] {
  if (isUtf8(content)) return []
  const lines = content.toString('latin1').split('\n')
  const row = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
  const before = Buffer.from(lines[row] ?? '', 'latin1').toString('utf8')
  const location = { file, row: row + 1, col: before.indexOf('\ufffd') + 1 }
  return [{ code: 'rego_parse_error', message: 'illegal utf-8 character', location }]
}
