import { readFileSync, readdirSync, statSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'

let waits = false

/**
 * Switches this thread to synchronous file access, which is faster for a thousand small files. Only
 * for processes that serve no requests.
 */
export function waitForFiles(): void {
  waits = true
}

export async function readWhole(file: string): Promise<Buffer> {
  return waits ? readFileSync(file) : await readFile(file)
}

export async function readEntries(directory: string): Promise<Dirent[]> {
  const how = { withFileTypes: true } as const
  return waits ? readdirSync(directory, how) : await readdir(directory, how)
}

export async function statOf(path: string): Promise<Stats> {
  return waits ? statSync(path) : await stat(path)
}
