import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

import { TEMPORARY_PREFIX, isOwnDirectory } from '../../lib/temporary-directory.js'

/** Where names are short on every system that has sockets in its file system. */
export const SHORT_FOLDER = '/tmp'
const NAME_LENGTH = 12

/**
 * Where the service on a data directory has its temporary files: by its name the next one on that directory, which has the lock on it then, knows what
 * a killed one left. Undefined where there is no such directory.
 */
export function temporaryFolderOf(dataDir: string): string | undefined {
  const name = nameFor(dataDir)
  return name && join(tmpdir(), name)
}

/** The same where paths are short. */
export function shortFolderOf(dataDir: string): string | undefined {
  const name = nameFor(dataDir)
  return name && join(SHORT_FOLDER, name)
}

/** All folders in which the service on a data directory may have temporary files; to be asked for while that is there. */
export function temporaryFoldersOf(dataDir: string): ReadonlySet<string> {
  return new Set([temporaryFolderOf(dataDir) ?? [], shortFolderOf(dataDir) ?? []].flat())
}

/**
 * Removes the temporary files of a service, for who has the lock on its data directory. Never rejects: what stays is in nobody's way. What another
 * user put in their place stays, too.
 */
export async function removeTemporaryFiles(folders: ReadonlySet<string>): Promise<void> {
  for (const folder of folders) {
    try {
      if (isOwnDirectory(folder)) await rm(folder, { recursive: true, force: true })
    } catch {
      // A program that outlives a killed service by a moment may still write there.
    }
  }
}

/** Not by the path: containers that share a folder for temporary files may all have their data at the same one. */
function nameFor(dataDir: string): string | undefined {
  try {
    const { dev, ino } = statSync(dataDir, { bigint: true })
    const digest = createHash('sha256').update(`${hostname()} ${dev} ${ino}`).digest('hex')
    return `${TEMPORARY_PREFIX}${digest.slice(0, NAME_LENGTH)}`
  } catch {
    return undefined
  }
}
