import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { STDIN } from '../input/read-document.js'

/**
 * Returns the files to check: the file itself (or `-`), or all `*.json` under a directory in a
 * stable order, without hidden files and `node_modules`. Raises `invalid` for an unreadable path
 * and a directory without JSON.
 */
export async function findDefinitions(path: string): Promise<string[]> {
  if (path === STDIN || !(await isDirectory(path))) return [path]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isPassedOver(file.slice(path.length)))
  if (files.length === 0) throw new AppError('invalid', `${path}: this directory contains no *.json`)
  return files.sort()
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (raw) {
    throw new AppError('invalid', `read ${path}: ${toError(raw).message.replace(/, \w+ '.*'$/s, '')}`, {
      cause: raw,
    })
  }
}

function isPassedOver(relative: string): boolean {
  return relative.split(/[\\/]/).some((segment) => segment.startsWith('.') || segment === 'node_modules')
}
