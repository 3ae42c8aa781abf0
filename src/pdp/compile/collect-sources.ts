import { readFile } from 'node:fs/promises'
import { dirname, relative, sep } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { toSharedBytes } from '../../lib/in-slices.js'
import type { DataFile } from '../data/load-data.js'
import { isDataFile, listSourceFiles, unreadable } from './list-source-files.js'

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
    for (const { file } of await listSourceFiles(root)) {
      if (isWantedRego(file, options)) rego.push({ file, text: (await readContent(file)).toString('utf8') })
      else if (isDataFile(file)) {
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

/** Whether a Rego file holds tests, which are never served. */
export function isTestFile(file: string): boolean {
  return file.endsWith('_test.rego')
}

function isWantedRego(file: string, options: CollectOptions): boolean {
  return file.endsWith('.rego') && (options.includeTests || !isTestFile(file))
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
