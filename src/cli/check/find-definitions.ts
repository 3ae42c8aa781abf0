import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { STDIN } from '../input/read-document.js'

/**
 * The files to check: a file (or `-`) is itself, a directory all `*.json` below it in a stable order, hidden ones and
 * `node_modules` left out. Raises `invalid` for a path that cannot be read and for a directory without any.
 */
export async function findDefinitions(path: string): Promise<string[]> {
  if (path === STDIN || !(await isDirectory(path))) return [path]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isPassedOver(file.slice(path.length)))
  if (files.length === 0) throw new AppError('invalid', `${path}: there is no *.json in this directory`)
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
