import { statSync, existsSync, renameSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError, hasErrorCode } from '../../../errors/app-error.js'
import { STORE_LOST } from './sqlite-error.js'

/**
 * Identity of an opened file: a process keeps writing to it even if its path changes. Plain values,
 * to cross a thread.
 */
export interface KeptFile {
  readonly path: string
  readonly device: bigint
  readonly inode: bigint
}

const OWNER_MAY_WRITE = 0o200n
/**
 * Size that a write-ahead log keeps. It may be truncated to it after a checkpoint
 * (`journal_size_limit`).
 */
export const WAL_KEPT_BYTES = 16 * 1024 * 1024
const WAL = '-wal'
/** Highest known size of each log. */
const largest = new WeakMap<KeptFile, number>()

/** Identifies a database in WAL mode and the existing files next to it. */
export function keptDatabase(path: string): readonly KeptFile[] {
  return [path, `${path}-wal`, `${path}-shm`].flatMap(keptFile)
}

/** Identifies a file; empty if it does not exist. */
export function keptFile(path: string): readonly KeptFile[] {
  const found = statOrAbsent(path)
  return found === undefined ? [] : [{ path, device: found.dev, inode: found.ino }]
}

/** Raises AppError `unavailable` with the code `store_lost` if a file is not at its path. */
export function requireKept(files: readonly KeptFile[]): void {
  for (const file of files) {
    const problem = describe(file, statOrAbsent(file.path), largest.get(file))
    if (problem !== undefined) throw lostFile(problem)
  }
}

/** Like `requireKept`, but asynchronous: returns the problem, or undefined. */
export async function findLost(files: readonly KeptFile[]): Promise<string | undefined> {
  for (const file of files) {
    // Read before the asynchronous stat, during which the log may grow.
    const before = largest.get(file)
    const problem = describe(file, await findOrAbsent(file.path), before)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Makes the error for a file that is not at its path. */
export function lostFile(problem: string): AppError {
  return new AppError('unavailable', problem, { code: STORE_LOST })
}

function statOrAbsent(path: string): BigIntStats | undefined {
  try {
    // Without an exception for a missing entry, which would cost more than the rest.
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

/** Whether the entry is missing or its directory is a file. */
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
    return `${name} is not at its path any more, so nothing is written: move it back there, with the files next to it; if it is gone, stop the service and restore a backup`
  }
  if (found.dev !== device || found.ino !== inode) {
    return `${name} was replaced by another file while it was open, so nothing is written: move the original back, or restart the service to use the new one`
  }
  if ((found.mode & OWNER_MAY_WRITE) === 0n) {
    return `${name} was made read-only, so nothing is written: make it writable for its owner`
  }
  if (path.endsWith(WAL) && isCut(file, Number(found.size), sizeBefore)) {
    return `${name} was truncated while it was open and lost its last writes, so nothing is written: stop the service and restore a backup, or restart it to continue with the rest`
  }
  return undefined
}

function isCut(file: KeptFile, size: number, sizeBefore = 0): boolean {
  largest.set(file, Math.max(largest.get(file) ?? 0, size))
  return size < Math.min(sizeBefore, WAL_KEPT_BYTES)
}

/** Suffixes of a database's files. */
const SUFFIXES = ['', '-wal', '-shm']

/**
 * Renames a damaged database and its files to `<path>.damaged-<time>` for inspection. Returns the
 * new path. No process may have the database open. Raises errors of the file system.
 */
export function renameDamaged(path: string, nowMs: number): string {
  const damagedPath = newName(path, nowMs)
  for (const suffix of SUFFIXES) {
    if (existsSync(path + suffix)) renameSync(path + suffix, damagedPath + suffix)
  }
  return damagedPath
}

/** Renames the remaining files of a deleted database, which SQLite would use with a new one. */
export function renameLeftovers(path: string, files: readonly KeptFile[], nowMs: number): void {
  const damagedPath = newName(path, nowMs)
  for (const file of files) {
    const found = keptFile(file.path).at(0)
    const isOurs = found?.inode === file.inode && found.device === file.device
    if (file.path !== path && isOurs) renameSync(file.path, damagedPath + file.path.slice(path.length))
  }
}

/** Returns an unused name: after the clock was set back, a time may repeat. */
function newName(path: string, nowMs: number): string {
  for (let later = 0; ; later++) {
    const name = `${path}.damaged-${new Date(nowMs + later).toISOString().replaceAll(/[:.]/g, '')}`
    if (!SUFFIXES.some((suffix) => existsSync(name + suffix))) return name
  }
}
