import { lstatSync } from 'node:fs'
import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Prefix of all folders in shared temporary directories. */
export const TEMPORARY_PREFIX = 'tidegate-'

const OTHERS_MAY_WRITE = 0o022

/**
 * Calls `use` with a new empty directory that only this user can read, and removes it afterwards in
 * any case.
 */
export async function inTemporaryDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  return await inTemporaryDirectoryBelow(undefined, use)
}

/**
 * As `inTemporaryDirectory`, inside `below`, which exists only while it is used. Falls back to the
 * system's temporary directory if `below` is undefined or not private to this user.
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
    // Fails if it contains something else.
    if (below === dirname(directory)) await rmdir(below).catch(() => undefined)
  }
}

/** Creates a temporary directory that the caller removes. */
export async function makeTemporaryDirectory(below?: string, otherwise = tmpdir()): Promise<string> {
  if (below !== undefined && (await isUsable(below))) {
    // Another user of the directory may just have removed it.
    const made = await mkdtemp(join(below, TEMPORARY_PREFIX)).catch(() => undefined)
    if (made !== undefined) return made
  }
  return await mkdtemp(join(otherwise, TEMPORARY_PREFIX))
}

/** Whether a path is a directory, not a link, in which only this user can create files. */
export function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) return false
  // Windows has neither, but its temporary folder belongs to the user.
  const uid = process.getuid?.()
  return uid === undefined || (stats.uid === uid && (stats.mode & OTHERS_MAY_WRITE) === 0)
}

/** Created each time, because systems remove unused temporary files. */
async function isUsable(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 }).catch(() => undefined)
    return isOwnDirectory(path)
  } catch {
    return false
  }
}
