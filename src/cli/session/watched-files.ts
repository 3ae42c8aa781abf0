import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { toError } from '../../errors/app-error.js'

/** Pause between checks, as a multiple of their duration. */
const PAUSE_FACTOR = 20

/** The state of files. */
export interface WatchedFiles {
  /** Returns whether a file was written, added or removed. */
  readonly haveChanged: () => Promise<boolean>
  /**
   * Returns the pause before the next check, in milliseconds. It grows with the size of
   * directories.
   */
  readonly pauseMs: () => number
}

/**
 * Records the state of files and of everything under directories. Missing files may appear later.
 */
export async function recordFiles(paths: readonly string[]): Promise<WatchedFiles> {
  let tookMs = 0
  const readVersions = async (): Promise<string> => {
    const startedAt = performance.now()
    const versions = await Promise.all(paths.map(versionOf))
    tookMs = performance.now() - startedAt
    return versions.join('\n')
  }
  const noted = await readVersions()
  return { haveChanged: async () => (await readVersions()) !== noted, pauseMs: () => tookMs * PAUSE_FACTOR }
}

/**
 * Returns a string that changes with the files. Symbolic links are followed to files but not to
 * directories.
 */
async function versionOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs, ino, isDirectory } = await describe(path)
    if (!isDirectory) return `${path} ${size} ${mtimeMs} ${ino}`
    const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter(
      (entry) => !entry.isDirectory(),
    )
    return (await Promise.all(files.map(({ parentPath, name }) => fileVersion(join(parentPath, name))))).join(
      '\n',
    )
  } catch (raw) {
    return `${path} ${toError(raw).message}`
  }
}

async function fileVersion(file: string): Promise<string> {
  const found = await describe(file).catch(() => undefined)
  return found === undefined ? file : `${file} ${found.size} ${found.mtimeMs} ${found.ino}`
}

async function describe(path: string) {
  const found = await stat(path)
  return { size: found.size, mtimeMs: found.mtimeMs, ino: found.ino, isDirectory: found.isDirectory() }
}
