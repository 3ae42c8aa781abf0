import { lstatSync } from 'node:fs'
import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** What the names of all folders start with that are made where other programs make theirs. */
export const TEMPORARY_PREFIX = 'tidegate-'

const OTHERS_MAY_WRITE = 0o022

/** Calls `use` with a new empty directory that only this user can read, and removes it afterwards, come what may. */
export async function inTemporaryDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  return await inTemporaryDirectoryBelow(undefined, use)
}

/**
 * The same in a directory that is there only while something is in it; where that is undefined, or not this user's alone, among the system's
 * temporary files.
 */
export async function inTemporaryDirectoryBelow<T>(
  below: string | undefined,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await makeTemporaryDirectory(below)
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
    // Unless something else is there.
    if (below === dirname(directory)) await rmdir(below).catch(() => undefined)
  }
}

/** Such a directory for who removes it. */
export async function makeTemporaryDirectory(below?: string, otherwise = tmpdir()): Promise<string> {
  if (below !== undefined && (await isUsable(below))) {
    // Who was the last to use it may just have removed it.
    const made = await mkdtemp(join(below, TEMPORARY_PREFIX)).catch(() => undefined)
    if (made !== undefined) return made
  }
  return await mkdtemp(join(otherwise, TEMPORARY_PREFIX))
}

/** Whether a path is a directory, and no link to one, in which this user alone makes files. */
export function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) return false
  // Windows has neither: there the folder for temporary files is the user's own.
  const uid = process.getuid?.()
  return uid === undefined || (stats.uid === uid && (stats.mode & OTHERS_MAY_WRITE) === 0)
}

/** Made each time: systems remove what was not used for days. */
async function isUsable(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 }).catch(() => undefined)
    return isOwnDirectory(path)
  } catch {
    return false
  }
}
