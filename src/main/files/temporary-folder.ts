import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

import { TEMPORARY_PREFIX, isOwnDirectory } from '../../lib/temporary-directory.js'

/** A directory with a short path on every system that has Unix sockets. */
export const SHORT_FOLDER = '/tmp'
const NAME_LENGTH = 12

/**
 * Returns the folder for temporary files of the service on a data directory, undefined if that
 * directory does not exist. Its name depends on the directory alone, so the next service there
 * finds what a killed one left.
 */
export function temporaryFolderOf(dataDir: string): string | undefined {
  const name = nameFor(dataDir)
  return name && join(tmpdir(), name)
}

/** As `temporaryFolderOf`, in a directory with a short path. */
export function shortFolderOf(dataDir: string): string | undefined {
  const name = nameFor(dataDir)
  return name && join(SHORT_FOLDER, name)
}

/**
 * All folders that may contain temporary files of the service. Call it while the data directory
 * exists.
 */
export function temporaryFoldersOf(dataDir: string): ReadonlySet<string> {
  return new Set([temporaryFolderOf(dataDir) ?? [], shortFolderOf(dataDir) ?? []].flat())
}

/**
 * Removes the temporary files of a service. The caller must have locked the data directory. Never
 * rejects, and leaves files of other users alone.
 */
export async function removeTemporaryFiles(folders: ReadonlySet<string>): Promise<void> {
  for (const folder of folders) {
    try {
      if (isOwnDirectory(folder)) await rm(folder, { recursive: true, force: true })
    } catch {
      // A program may outlive a killed service by a moment and still write there.
    }
  }
}

/**
 * The name depends on device and inode, because containers that share a temporary folder may all
 * use the same data path.
 */
function nameFor(dataDir: string): string | undefined {
  try {
    const { dev, ino } = statSync(dataDir, { bigint: true })
    const digest = createHash('sha256').update(`${hostname()} ${dev} ${ino}`).digest('hex')
    return `${TEMPORARY_PREFIX}${digest.slice(0, NAME_LENGTH)}`
  } catch {
    return undefined
  }
}
