import { closeSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import Database from 'better-sqlite3'
import { AppError, hasErrorCode } from '../../../errors/app-error.js'
import { WAL_KEPT_BYTES } from './kept-files.js'
import { STORE_DAMAGED, toStoreError } from './sqlite-error.js'

export interface OpenDatabaseOptions {
  readonly path: string
  /** `full` makes commits durable; `normal` may lose the last transactions in a power cut. */
  readonly synchronous: 'normal' | 'full'
  /**
   * Identifies the kind of database (`PRAGMA application_id`), so that no other file is accepted.
   */
  readonly applicationId: number
  /** In bytes, a power of two up to 65536. Fixed at creation. */
  readonly pageSize?: number
  /** Free pages can be given back in steps. Fixed at creation. */
  readonly incrementalVacuum?: boolean
  /** Size of the write-ahead log, in pages, at which a commit copies it into the file. */
  readonly walAutocheckpointPages?: number
  /** Highest memory for cached pages. */
  readonly pageCacheKib?: number
  /** Keeps the undo data of savepoints in memory instead of a temporary file for most commits. */
  readonly temporaryInMemory?: boolean
  /** Highest number of pages. Beyond it, writes fail as on a full disk. */
  readonly maxPages?: number
  /** Time that a statement waits for another process's write, in milliseconds. */
  readonly busyTimeoutMs?: number
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000
/**
 * Page cache of a connection. The driver's default is 16 MB, and the system caches the file anyway.
 */
const DEFAULT_PAGE_CACHE_KIB = 2000

/**
 * Opens a database for writing, or creates it, readable by its owner only. Raises AppError
 * `unavailable` for a file that is damaged, empty, locked or of another program. An existing file
 * is never replaced.
 */
export function openDatabase(options: OpenDatabaseOptions): Database.Database {
  return opening(options.path, () => {
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 })
    const stats = lstatSync(options.path, { throwIfNoEntry: false })
    if (stats === undefined) createDatabase(options)
    else refuseUnlikely(options.path, stats)
    return configured(options, new Database(options.path, { fileMustExist: true }))
  })
}

/**
 * Opens an existing database for reading next to its writer. Raises the errors of `openDatabase`.
 */
export function openReadOnly(options: OpenDatabaseOptions): Database.Database {
  return opening(options.path, () =>
    checked(options, new Database(options.path, { fileMustExist: true, readonly: true })),
  )
}

function opening(path: string, open: () => Database.Database): Database.Database {
  try {
    return open()
  } catch (raw) {
    throw toStoreError(`open ${basename(path)}`, raw)
  }
}

function refuseUnlikely(path: string, stats: Stats): void {
  if (!stats.isFile()) throw damaged(path, 'it is not a regular file')
  // A new file appears complete, so something else has emptied this one.
  if (stats.size === 0) throw damaged(path, 'the file is empty: restore it from a backup or remove it')
}

function damaged(path: string, problem: string): AppError {
  return new AppError('unavailable', `open ${basename(path)}: ${problem}`, { code: STORE_DAMAGED })
}

/**
 * Creates the file under another name and links it into place, so that a crash leaves no partial
 * database.
 */
function createDatabase(options: OpenDatabaseOptions): void {
  const draft = `${options.path}.${process.pid}.new`
  rmSync(draft, { force: true })
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    writeHeader(options, draft)
    flush(draft)
    putInPlace(draft, options.path)
  } finally {
    rmSync(draft, { force: true })
  }
}

function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (raw) {
    // Another process has created the file. Otherwise the file system does not support hard links.
    if (!hasErrorCode(raw, 'EEXIST')) renameSync(draft, path)
  }
}

/** Flushes a file to the disk. */
function flush(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function writeHeader(options: OpenDatabaseOptions, path: string): void {
  const database = new Database(path)
  try {
    // The file is flushed once, when it is complete. Otherwise each of these steps would flush four
    // times.
    database.pragma('synchronous = off')
    if (options.pageSize !== undefined) database.pragma(`page_size = ${options.pageSize}`)
    if (options.incrementalVacuum === true) database.pragma('auto_vacuum = incremental')
    database.pragma(`application_id = ${options.applicationId}`)
    database.pragma('journal_mode = wal')
  } finally {
    database.close()
  }
}

function configured(options: OpenDatabaseOptions, database: Database.Database): Database.Database {
  checked(options, database)
  try {
    database.pragma('journal_mode = wal')
    database.pragma(`synchronous = ${options.synchronous}`)
    database.pragma('foreign_keys = on')
    if (options.temporaryInMemory === true) database.pragma('temp_store = memory')
    if (options.maxPages !== undefined) database.pragma(`max_page_count = ${options.maxPages}`)
    database.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`)
    if (options.walAutocheckpointPages !== undefined) {
      database.pragma(`wal_autocheckpoint = ${options.walAutocheckpointPages}`)
    }
    return database
  } catch (raw) {
    database.close()
    throw raw
  }
}

function checked(options: OpenDatabaseOptions, database: Database.Database): Database.Database {
  try {
    database.pragma(`busy_timeout = ${options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS}`)
    database.pragma(`cache_size = -${options.pageCacheKib ?? DEFAULT_PAGE_CACHE_KIB}`)
    // Reads page 1 and the schema: the first statement that fails on a damaged file.
    database.prepare('select count(*) from sqlite_schema').get()
    if (database.pragma('application_id', { simple: true }) !== options.applicationId) {
      throw new AppError(
        'unavailable',
        `open ${basename(options.path)}: the file belongs to another program: choose another data directory`,
      )
    }
    return database
  } catch (raw) {
    database.close()
    throw raw
  }
}
