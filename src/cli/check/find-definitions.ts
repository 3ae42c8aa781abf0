import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { STDIN } from '../input/read-document.js'

/** Extensions of files that may contain definitions. */
const EXTENSIONS = ['.json', '.yaml', '.yml']

/** Returns whether a file may contain definitions, by its name. */
export function isDefinitionFile(file: string, extensions: readonly string[] = EXTENSIONS): boolean {
  return extensions.includes(extname(file).toLowerCase())
}

/**
 * Returns the files to check: the file itself (or `-`), or all files under a
 * directory with these extensions in a stable order, without hidden files and `node_modules`. Links to files are
 * followed, links to directories are not. Raises `invalid` for an unreadable path and a directory
 * without such files.
 */
export async function findDefinitions(path: string, extensions = EXTENSIONS): Promise<string[]> {
  if (path === STDIN || !(await isDirectory(path))) return [path]
  const files = await listBelow(path, extensions)
  if (files.length === 0) {
    const names = extensions.map((extension) => `*${extension}`).join(' or ')
    throw new AppError('invalid', `${path}: this directory contains no ${names}`)
  }
  return files.sort()
}

async function listBelow(directory: string, extensions: readonly string[]): Promise<string[]> {
  const files: string[] = []
  for (const entry of await listEntries(directory)) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) files.push(...(await listBelow(path, extensions)))
    else if (
      isDefinitionFile(path, extensions) &&
      (entry.isFile() || (entry.isSymbolicLink() && !(await isLinkedFolder(path))))
    )
      files.push(path)
  }
  return files
}

async function listEntries(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true })
  } catch (raw) {
    throw unreadable(directory, raw)
  }
}

/** A broken link counts as a file: reading it reports the error. */
async function isLinkedFolder(path: string): Promise<boolean> {
  return await isDirectory(path).catch(() => false)
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (raw) {
    throw unreadable(path, raw)
  }
}

function unreadable(path: string, raw: unknown): AppError {
  return new AppError('invalid', `read ${path}: ${toError(raw).message.replace(/, \w+ '.*'$/s, '')}`, {
    cause: raw,
  })
}
