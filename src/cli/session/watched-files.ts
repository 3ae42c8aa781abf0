import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { toError } from '../../errors/app-error.js'

/** Looking at many files takes no more than this share of the time. */
const PAUSE_FACTOR = 20

/** Files as they were when they were noted. */
export interface WatchedFiles {
  /** Whether one of them has been written, added or removed since. */
  readonly haveChanged: () => Promise<boolean>
  /** How long to wait before they are looked at again, in milliseconds, so that large directories are looked at less often. */
  readonly pauseMs: () => number
}

/** Takes files, and all that lie below directories, as they are now. What is not there may appear. */
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

/** A text that is another one as soon as a file is. Links are followed to files, and not into directories. */
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
