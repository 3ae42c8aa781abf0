import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'

import { AppError } from '../../../errors/app-error.js'

/**
 * Opens a file below a directory for reading. Raises `invalid` for paths that lead outside by "..",
 * an absolute path or a symbolic link, and for anything but regular files; `not_found` if there is
 * no file.
 */
export async function openInside(directory: string, path: string): Promise<FileHandle> {
  if (isAbsolute(path) || path.split(/[/\\]/).includes('..')) throw outside(path)
  const real = await realPathOf(join(directory, path), path)
  const root = await realPathOf(directory, directory)
  if (!real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) throw outside(path)
  const file = await openReading(real, path)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new AppError('invalid', `${path} is no regular file`)
}

/** Neither waits for the writer of a pipe nor follows a link that has come in between. */
async function openReading(path: string, shown: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (raw) {
    throw unreadable(shown, raw)
  }
}

async function realPathOf(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (raw) {
    throw unreadable(shown, raw)
  }
}

/** Contains only the system's code, since the system's message has the whole path. */
function unreadable(shown: string, raw: unknown): AppError {
  const code = raw instanceof Error && 'code' in raw ? String(raw.code) : 'unknown error'
  return code === 'ENOENT'
    ? new AppError('not_found', `there is no ${shown}`, { cause: raw })
    : new AppError('unavailable', `${shown} cannot be read (${code})`, { cause: raw })
}

function outside(path: string): AppError {
  return new AppError('invalid', `${path} leads outside of the directory of the source`)
}
