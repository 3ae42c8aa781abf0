import { readFileSync, readdirSync, statSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'

let waits = false

/**
 * Has the thread wait for each file itself from now on: to hand a thousand small ones to other threads and back takes longer than to read them. For a
 * process that answers nobody meanwhile.
 */
export function waitForFiles(): void {
  waits = true
}

/** As `readFile`. */
export async function readWhole(file: string): Promise<Buffer> {
  return waits ? readFileSync(file) : await readFile(file)
}

/** As `readdir`, with types. */
export async function readEntries(directory: string): Promise<Dirent[]> {
  const how = { withFileTypes: true } as const
  return waits ? readdirSync(directory, how) : await readdir(directory, how)
}

/** As `stat`. */
export async function statOf(path: string): Promise<Stats> {
  return waits ? statSync(path) : await stat(path)
}
