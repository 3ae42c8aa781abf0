import { stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/**
 * How long a file must have been as it is for its version to tell all later changes, in milliseconds: systems note times in steps
 * of up to two seconds, so that a second change within one step leaves the version as it is.
 */
const SETTLED_MS = 5000

/** A text for a file as it is: another one as soon as it is another file, or was written, replaced or renamed. */
export function versionText({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

/** The same of a file by its path; undefined where there is none. */
export async function versionOfFile(path: string): Promise<string | undefined> {
  try {
    return versionText(await stat(path))
  } catch {
    return undefined
  }
}

/** Whether what is read of a file from now on is what any file of this version holds: it has not been changed for a while. */
export function isSettled({ ctimeMs, mtimeMs }: Pick<Stats, 'ctimeMs' | 'mtimeMs'>): boolean {
  return Math.max(ctimeMs, mtimeMs) < Date.now() - SETTLED_MS
}
