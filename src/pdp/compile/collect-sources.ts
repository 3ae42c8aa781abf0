import { readFile, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { toSharedBytes } from '../../lib/in-slices.js'
import type { DataFile } from '../data/load-data.js'

/** A Rego module as read: `file` is the path that a person knows it by. */
export interface RegoFile {
  readonly file: string
  readonly text: string
}

export interface PolicySources {
  readonly rego: readonly RegoFile[]
  readonly data: readonly DataFile[]
}

export interface CollectOptions {
  /** Whether `*_test.rego` is taken too; served policies leave the tests out. */
  readonly includeTests: boolean
}

const DATA_FILES: readonly string[] = ['data.json', 'data.yaml', 'data.yml']

/**
 * Reads the Rego files and the `data.json`, `data.yaml` beside them from directories (or single Rego files), in a
 * stable order. Hidden files and `node_modules` are skipped. Raises `invalid` for a path that cannot be read, or
 * when there is nothing to load at all.
 */
export async function collectSources(
  paths: readonly string[],
  options: CollectOptions,
): Promise<PolicySources> {
  const rego: RegoFile[] = []
  const data: DataFile[] = []
  for (const root of paths) {
    for (const file of await listFiles(root)) {
      if (isWantedRego(file, options)) rego.push({ file, text: (await readContent(file)).toString('utf8') })
      else if (DATA_FILES.includes(basename(file))) {
        // The thread that makes values of it is given the same memory.
        const content = await toSharedBytes(await readContent(file))
        data.push({ file, content, at: dataPath(root, file) })
      }
    }
  }
  if (rego.length === 0 && data.length === 0) {
    throw new AppError(
      'invalid',
      `no Rego files and no data.json or data.yaml in ${paths.join(', ') || 'no directory'}`,
    )
  }
  return { rego, data }
}

/** Whether a change of this file can change what `collectSources` gives. */
export function isSourceFile(file: string): boolean {
  return file.endsWith('.rego') || DATA_FILES.includes(basename(file))
}

/** Whether a Rego file holds tests, which are never served. */
export function isTestFile(file: string): boolean {
  return file.endsWith('_test.rego')
}

function isWantedRego(file: string, options: CollectOptions): boolean {
  return file.endsWith('.rego') && (options.includeTests || !isTestFile(file))
}

/** All files at or below a path, sorted, so that compiling the same tree twice gives the same module. */
async function listFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const entries = await readdir(path, { withFileTypes: true })
    const visible = entries.filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    const names = visible.map((entry) => entry.name).sort()
    const nested = await Promise.all(names.map((name) => listFiles(join(path, name))))
    return nested.flat()
  } catch (raw) {
    throw unreadable(path, raw)
  }
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

function unreadable(path: string, raw: unknown): AppError {
  return raw instanceof AppError
    ? raw
    : new AppError('invalid', `read policies: ${toError(raw).message}`, { cause: { path, raw } })
}
