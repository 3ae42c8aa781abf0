import { readFile } from 'node:fs/promises'
import { dirname, relative, sep } from 'node:path'
import { isUtf8 } from 'node:buffer'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { inGroups } from '../../lib/turns/in-groups.js'
import { toSharedBytes } from '../../lib/turns/in-slices.js'
import type { DataFile } from '../data/load-data.js'
import { VERDICT_RULES } from '../values/verdict-rules.js'
import { isDataFile, isMaybeData, listSourceTree, unreadable } from './files/list-source-files.js'
import type { SourceFile } from './files/list-source-files.js'
import { compileError } from '../modules/opa-errors.js'
import type { RegoFile } from '../modules/rego-module.js'
import { readWhole } from '../../lib/read-files.js'
import { spellNumbers } from '../workarounds/numbers-without-integer-part.js'

const VERDICT_LINE = new RegExp(`^(?:default\\s+)?(?:\\S*[.\\["])?(?:${VERDICT_RULES.join('|')})\\b`, 'm')
const NOTHING = Buffer.alloc(0)

/** Files that OPA would load from the same directories, and Tidegate does not. */
export interface LeftOutFiles {
  /** Tests and hidden files with a line that begins with the name of a verdict. */
  readonly rego: readonly RegoFile[]
  /** JSON and YAML with other names than data files, with the path that OPA would load them to. */
  readonly data: readonly { readonly file: string; readonly at: readonly string[] }[]
}

export interface PolicySources {
  readonly rego: readonly RegoFile[]
  readonly data: readonly DataFile[]
  readonly leftOut: LeftOutFiles
}

export interface CollectOptions {
  /** True to include `*_test.rego`; served policies exclude tests. */
  readonly includeTests: boolean
  /**
   * True to load all JSON and YAML as data; by default only files with the names of data files in
   * bundles.
   */
  readonly includesAllData?: boolean | undefined
  /** True to accept directories without policies and data. */
  readonly mayBeEmpty?: boolean
}

/**
 * Reads Rego files and their `data.json` or `data.yaml` from directories (or single Rego files), in
 * a stable order, without hidden files and `node_modules`. Raises `invalid` for a path that cannot
 * be read, Rego that is not UTF-8, and if there is nothing to load.
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
    for (const { file, read } of await readRego(root, sources)) {
      if (read === undefined) data.push(await readDataFile(root, file))
      else {
        if (isWantedRego(file, options)) {
          rego.push(read.file)
          malformed.push(...read.malformed)
        } else leftOut.rego.push(...withVerdict(read.file))
      }
    }
    for (const file of passedOver) {
      if (file.endsWith('.rego')) leftOut.rego.push(...withVerdict(await readHidden(file)))
      else if (options.includesAllData) data.push(await readDataFile(root, file))
      else leftOut.data.push({ file, at: dataPath(root, file) })
    }
  }
  if (malformed.length > 0) throw compileError(malformed)
  if (rego.length === 0 && data.length === 0 && options.mayBeEmpty !== true) {
    throw new AppError(
      'invalid',
      `no Rego files and no data.json or data.yaml in ${paths.join(', ') || 'no directory'}`,
    )
  }
  return { rego, data, leftOut }
}

/** Returns files with their contents if they are Rego. */
async function readRego(
  root: string,
  sources: readonly SourceFile[],
): Promise<{ readonly file: string; readonly read: ReadRego | undefined }[]> {
  return await inGroups(sources, async ({ file }) => ({
    file,
    read: isData(file, root) ? undefined : await readRegoFile(file),
  }))
}

/** Reads a hidden file; empty if it cannot be read. */
async function readHidden(file: string): Promise<RegoFile> {
  const content = await readFile(file).catch(() => NOTHING)
  return { file, text: content.toString('utf8') }
}

/** A file named explicitly is data whatever its name. */
function isData(file: string, root: string): boolean {
  return isDataFile(file) || (file === root && isMaybeData(file))
}

/** Returns the file in memory shared with the thread that parses it. */
async function readDataFile(root: string, file: string): Promise<DataFile> {
  return { file, content: await toSharedBytes(await readContent(file)), at: dataPath(root, file) }
}

/** True for a file of tests, which are never served. */
export function isTestFile(file: string): boolean {
  return file.endsWith('_test.rego')
}

function isWantedRego(file: string, options: CollectOptions): boolean {
  return file.endsWith('.rego') && (options.includeTests || !isTestFile(file))
}

function withVerdict(file: RegoFile): RegoFile[] {
  return VERDICT_LINE.test(file.text) ? [file] : []
}

function dataPath(root: string, file: string): string[] {
  const directory = file === root ? '' : relative(root, dirname(file))
  return directory === '' ? [] : directory.split(sep)
}

/** A Rego file, and the location of text that is not UTF-8. */
export interface ReadRego {
  readonly file: RegoFile
  readonly malformed: readonly ErrorDetail[]
}

/** Reads a Rego file. Raises `invalid` if it cannot be read. */
async function readRegoFile(file: string): Promise<ReadRego> {
  return readRegoText(file, await readContent(file))
}

/** Returns the text of a Rego file. */
export function readRegoText(file: string, content: Buffer): ReadRego {
  const source = content.toString('utf8')
  const text = spellNumbers(source)
  return {
    file: text === source ? { file, text } : { file, text, source },
    malformed: malformedText(file, content),
  }
}

/** Reads a file. Raises `invalid` if it cannot be read. */
async function readContent(file: string): Promise<Buffer> {
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
