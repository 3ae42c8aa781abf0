import { stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/**
 * Minimum age of a file's last change, in milliseconds, for its version to detect all later
 * changes. Some systems store times in steps of two seconds and would miss a second change within a
 * step.
 */
const SETTLED_MS = 5000

/** Returns a string that changes when a file is written, replaced or renamed. */
export function versionText({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

/** Returns the version of the file at a path. Undefined if there is none. */
export async function versionOfFile(path: string): Promise<string | undefined> {
  try {
    return versionText(await stat(path))
  } catch {
    return undefined
  }
}

/** Whether the file has been unchanged long enough for its version to identify its contents. */
export function isSettled({ ctimeMs, mtimeMs }: Pick<Stats, 'ctimeMs' | 'mtimeMs'>): boolean {
  return Math.max(ctimeMs, mtimeMs) < Date.now() - SETTLED_MS
}
