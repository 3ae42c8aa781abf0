import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { dirname, relative, sep } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { toSharedBytes } from '../../lib/in-slices.js'
import type { DataFile } from '../data/load-data.js'
import { VERDICT_RULES } from '../rego/verdict-rules.js'
import { isDataFile, listSourceTree, unreadable } from './list-source-files.js'
import { compileError } from './opa-errors.js'

const VERDICT_LINE = new RegExp(`^(?:default\\s+)?(?:\\S*[.\\["])?(?:${VERDICT_RULES.join('|')})\\b`, 'm')
const NOTHING = Buffer.alloc(0)

/** A Rego module as read: `file` is the path that a person knows it by. */
export interface RegoFile {
  readonly file: string
  readonly text: string
}

/** What OPA would read of the same directories, and policies are not made of. */
export interface LeftOutFiles {
  /** Tests and hidden files, as far as they begin a line with the name of a verdict. */
  readonly rego: readonly RegoFile[]
  /** JSON and YAML of other names than those of data, with where OPA would put it. */
  readonly data: readonly { readonly file: string; readonly at: readonly string[] }[]
}

export interface PolicySources {
  readonly rego: readonly RegoFile[]
  readonly data: readonly DataFile[]
  readonly leftOut: LeftOutFiles
}

export interface CollectOptions {
  /** Whether `*_test.rego` is taken too; served policies leave the tests out. */
  readonly includeTests: boolean
}

/**
 * Reads the Rego files and the `data.json`, `data.yaml` beside them from directories (or single Rego files), in a
 * stable order. Hidden files and `node_modules` are skipped. Raises `invalid` for a path that cannot be read, for Rego that is not
 * UTF-8, and when there is nothing to load at all.
 */
export async function collectSources(
  paths: readonly string[],
  options: CollectOptions,
): Promise<PolicySources> {
  const rego: RegoFile[] = []
  const data: DataFile[] = []
  const leftOut = { rego: [] as RegoFile[], data: [] as { file: string; at: string[] }[] }
  const malformed: ErrorDetail[] = []
  for (const root of paths) {
    const { sources, passedOver } = await listSourceTree(root)
    for (const { file } of sources) {
      const content = await readContent(file)
      // The thread that makes values of it is given the same memory.
      if (isDataFile(file))
        data.push({ file, content: await toSharedBytes(content), at: dataPath(root, file) })
      else if (isWantedRego(file, options)) {
        rego.push({ file, text: content.toString('utf8') })
        malformed.push(...malformedText(file, content))
      } else leftOut.rego.push(...withVerdict(file, content))
    }
    for (const file of passedOver) {
      if (!file.endsWith('.rego')) leftOut.data.push({ file, at: dataPath(root, file) })
      else leftOut.rego.push(...withVerdict(file, await readFile(file).catch(() => NOTHING)))
    }
  }
  if (malformed.length > 0) throw compileError(malformed)
  if (rego.length === 0 && data.length === 0) {
    throw new AppError(
      'invalid',
      `no Rego files and no data.json or data.yaml in ${paths.join(', ') || 'no directory'}`,
    )
  }
  return { rego, data, leftOut }
}

/** Whether a Rego file holds tests, which are never served. */
export function isTestFile(file: string): boolean {
  return file.endsWith('_test.rego')
}

function isWantedRego(file: string, options: CollectOptions): boolean {
  return file.endsWith('.rego') && (options.includeTests || !isTestFile(file))
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

/** Only such a file need be looked at more closely. */
function withVerdict(file: string, content: Buffer): RegoFile[] {
  const text = content.toString('utf8')
  return VERDICT_LINE.test(text) ? [{ file, text }] : []
}

async function readContent(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (raw) {
    throw unreadable(file, raw)
  }
}

function dataPath(root: string, file: string): string[] {
  const directory = relative(root, dirname(file))
  return directory === '' ? [] : directory.split(sep)
}
