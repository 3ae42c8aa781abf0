import { basename } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { MAX_ID } from '../../ports/gate.js'
import { STORE_DAMAGED, toStoreError } from '../engine/sqlite-error.js'

/**
 * More pages than any database has: everything in one step, since a write between two steps would
 * restart the copy.
 */
const ALL_PAGES = 0x7f_ff_ff_ff
const BUSY_TIMEOUT_MS = 10_000

/**
 * Copies one state of a database during concurrent writes, without a write-ahead log
 * (https://www.sqlite.org/backup.html), and checks the copy. Raises `unavailable` for a database
 * that cannot be read or is damaged, and for a full disk.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const action = `copy ${basename(from)}`
  try {
    const source = new Database(from, { fileMustExist: true, readonly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      await source.backup(to, { progress: () => ALL_PAGES })
    } finally {
      source.close()
    }
    settle(to)
  } catch (raw) {
    throw toStoreError(action, raw)
  }
  checkDatabase(to)
}

/**
 * Reads all pages and indexes of a database without a writer. Raises `unavailable` with the
 * problems.
 */
export function checkDatabase(path: string): void {
  const action = `check ${basename(path)}`
  const problems = attempt(action, () => {
    const database = new Database(path, { fileMustExist: true, readonly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      return database.pragma('integrity_check(5)') as { readonly integrity_check: string }[]
    } finally {
      database.close()
    }
  })
  const found = problems.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  if (found.length === 0) return
  throw new AppError('unavailable', `${action}: the file is damaged (${found.join('; ')})`, {
    code: STORE_DAMAGED,
  })
}

/** Makes the copy readable without a write-ahead log. */
function settle(path: string): void {
  const copy = new Database(path, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
  } finally {
    copy.close()
  }
}

function attempt<T>(action: string, work: () => T): T {
  try {
    return work()
  } catch (raw) {
    throw toStoreError(action, raw)
  }
}

/** Tables whose numbers are known outside of the database. */
const NUMBERED = ['gate_instances', 'analysis_runs', 'outbox'] as const
/** More numbers than a service uses between two backups. */
const STEP = 1_000_000

/**
 * Continues the numbers of a restored database at the next million, so that no number is given
 * again that may have been given after the backup: a client that polls a lost instance must not see
 * another one's approval. Raises `unavailable` if no numbers are left or the database cannot be
 * written.
 */
export function reserveNumbers(path: string): void {
  const action = 'set the numbers of the restored database'
  try {
    const database = new Database(path, { fileMustExist: true })
    try {
      database.transaction(() => NUMBERED.forEach((table) => reserve(database, table)))()
    } finally {
      database.close()
    }
  } catch (raw) {
    throw raw instanceof AppError ? raw : toStoreError(action, raw)
  }
}

function reserve(database: Database.Database, table: string): void {
  const known = database
    .prepare<[string], number>('select seq from sqlite_sequence where name = ?')
    .pluck()
    .get(table)
  const next = (Math.floor((known ?? 0) / STEP) + 1) * STEP
  if (next >= MAX_ID) throw new AppError('unavailable', `there are no numbers left for ${table}`)
  const [sql, ...values] =
    known === undefined
      ? (['insert into sqlite_sequence (seq, name) values (?, ?)', next, table] as const)
      : (['update sqlite_sequence set seq = ? where name = ?', next, table] as const)
  database.prepare(sql).run(...values)
}
