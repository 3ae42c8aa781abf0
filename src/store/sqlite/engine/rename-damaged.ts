import { existsSync, renameSync } from 'node:fs'
import { keptFile } from './kept-files.js'
import type { KeptFile } from './kept-files.js'

/** What SQLite keeps beside a database, and the database itself. */
const SUFFIXES = ['', '-wal', '-shm']

/**
 * Renames a damaged database, and what is beside it, to `<path>.damaged-<time>`, so that another can be begun in its place and this one
 * can be looked at. Returns the new path of the database. Nobody may have it open. Raises the errors of the file system.
 */
export function renameDamaged(path: string, nowMs: number): string {
  const damagedPath = newName(path, nowMs)
  for (const suffix of SUFFIXES) {
    if (existsSync(path + suffix)) renameSync(path + suffix, damagedPath + suffix)
  }
  return damagedPath
}

/** The same for what a database that is gone left behind: beside another database it would be taken for that one's. */
export function renameLeftovers(path: string, files: readonly KeptFile[], nowMs: number): void {
  const damagedPath = newName(path, nowMs)
  for (const file of files) {
    const found = keptFile(file.path).at(0)
    const isOurs = found?.inode === file.inode && found.device === file.device
    if (file.path !== path && isOurs) renameSync(file.path, damagedPath + file.path.slice(path.length))
  }
}

/** A name that nothing has: a clock that was set back gives a time again, and what was renamed before must stay. */
function newName(path: string, nowMs: number): string {
  for (let later = 0; ; later++) {
    const name = `${path}.damaged-${new Date(nowMs + later).toISOString().replaceAll(/[:.]/g, '')}`
    if (!SUFFIXES.some((suffix) => existsSync(name + suffix))) return name
  }
}
