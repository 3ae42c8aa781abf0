import { statSync, existsSync, renameSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError, hasErrorCode } from '../../../errors/app-error.js'
import { STORE_LOST } from './sqlite-error.js'

/** A file as it was when it was opened: a process goes on writing to it wherever its name leads later. Plain, to cross a thread. */
export interface KeptFile {
  readonly path: string
  readonly device: bigint
  readonly inode: bigint
}

const OWNER_MAY_WRITE = 0o200n
/** The write-ahead log grows while a database is open; what is beyond this may be cut off after a checkpoint (`journal_size_limit`). */
export const WAL_KEPT_BYTES = 16 * 1024 * 1024
const WAL = '-wal'
/** How large each log was when it was largest. */
const largest = new WeakMap<KeptFile, number>()

/** A database that has been opened in WAL mode, with the files beside it, as far as they are there. */
export function keptDatabase(path: string): readonly KeptFile[] {
  return [path, `${path}-wal`, `${path}-shm`].flatMap(keptFile)
}

/** One file, in a list; none when it is not there. */
export function keptFile(path: string): readonly KeptFile[] {
  const found = statOrAbsent(path)
  return found === undefined ? [] : [{ path, device: found.dev, inode: found.ino }]
}

/** Raises AppError `unavailable` with the code `store_lost` when one of the files is not at its path any more. */
export function requireKept(files: readonly KeptFile[]): void {
  for (const file of files) {
    const problem = describe(file, statOrAbsent(file.path), largest.get(file))
    if (problem !== undefined) throw lostFile(problem)
  }
}

/** The same as a sentence, without holding up the thread that asks; undefined while all files are at their paths. */
export async function findLost(files: readonly KeptFile[]): Promise<string | undefined> {
  for (const file of files) {
    // As it was before: while it is looked at it may grow, and be seen larger by who asks in between.
    const before = largest.get(file)
    const problem = describe(file, await findOrAbsent(file.path), before)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The error for a file that is not where it was. */
export function lostFile(problem: string): AppError {
  return new AppError('unavailable', problem, { code: STORE_LOST })
}

function statOrAbsent(path: string): BigIntStats | undefined {
  try {
    // An entry that is not there is told without an error, which would cost more than the rest.
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (raw) {
    if (isAbsent(raw)) return undefined
    throw raw
  }
}

async function findOrAbsent(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (raw) {
    if (isAbsent(raw)) return undefined
    throw raw
  }
}

/** Whether there is no entry, or a file in place of its directory. */
function isAbsent(raw: unknown): boolean {
  return hasErrorCode(raw, 'ENOENT') || hasErrorCode(raw, 'ENOTDIR')
}

function describe(
  file: KeptFile,
  found: BigIntStats | undefined,
  sizeBefore: number | undefined,
): string | undefined {
  const { path, device, inode } = file
  const name = basename(path)
  if (found === undefined) {
    return `${name} is not at its path any more, so nothing is written: move it back there, with the files beside it; if it is gone, stop the service and restore a backup`
  }
  if (found.dev !== device || found.ino !== inode) {
    return `${name} was replaced by another file while it was open, so nothing is written: move the first one back, or restart the service to go on with the other`
  }
  if ((found.mode & OWNER_MAY_WRITE) === 0n) {
    return `${name} was made read-only, so nothing is written: let its owner write to it`
  }
  if (path.endsWith(WAL) && isCut(file, Number(found.size), sizeBefore)) {
    return `${name} was cut while it was open, and what was written last with it, so nothing is written: stop the service and restore a backup, or restart it to go on with what is left`
  }
  return undefined
}

function isCut(file: KeptFile, size: number, sizeBefore = 0): boolean {
  largest.set(file, Math.max(largest.get(file) ?? 0, size))
  return size < Math.min(sizeBefore, WAL_KEPT_BYTES)
}

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
