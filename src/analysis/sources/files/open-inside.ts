import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'

import { AppError, toError } from '../../../errors.js'

/**
 * Opens a file below a directory for reading. Raises `invalid` for what leads outside of it, by "..", an absolute path or a
 * symbolic link, and for what is no regular file; `not_found` when there is none.
 */
export async function openInside(directory: string, path: string): Promise<FileHandle> {
  if (isAbsolute(path) || path.split(/[/\\]/).includes('..')) throw outside(path)
  const real = await realPathOf(join(directory, path), path)
  const root = await realPathOf(directory, directory)
  if (!real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) throw outside(path)
  // Neither waits for the writer of a pipe nor follows a link that has come in between.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new AppError('invalid', `${path} is no regular file`)
}

async function realPathOf(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (raw) {
    const isAbsent = toError(raw).message.startsWith('ENOENT')
    if (isAbsent) throw new AppError('not_found', `there is no ${shown}`, { cause: raw })
    throw new AppError('unavailable', `${shown} cannot be read: ${toError(raw).message}`, { cause: raw })
  }
}

function outside(path: string): AppError {
  return new AppError('invalid', `${path} leads outside of the directory of the source`)
}
