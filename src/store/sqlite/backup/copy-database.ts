import { basename } from 'node:path'
import Database from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { MAX_ID } from '../../ports/gate.js'
import { STORE_DAMAGED, toStoreError } from '../engine/sqlite-error.js'

/** More pages than a database can have: all in one step, since a write in between would begin a copy of several steps anew. */
const ALL_PAGES = 0x7f_ff_ff_ff
const BUSY_TIMEOUT_MS = 10_000

/**
 * Copies a database while others write to it (https://www.sqlite.org/backup.html): one state of it, without the write-ahead log. The copy
 * is checked whole before this resolves. Raises `unavailable` for a database that cannot be read, is damaged, or has no room.
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

/** Reads every page and every index of a database that nobody writes to. Raises `unavailable` with what is wrong. */
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

/** One file alone, that needs no write-ahead log beside it to be read. */
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

/** Others know what is in these by its number, and ask for it. */
const NUMBERED = ['gate_instances', 'analysis_runs', 'outbox'] as const
/** More than any service gives between two backups. */
const STEP = 1_000_000

/**
 * Lets no number be given again that may have been given after a backup was made: who still asks for an instance that is gone must not be
 * told of another's approval. Numbers go on at the next million. Raises `unavailable` where there are none left, or the database cannot be written.
 */
function reserveNumbers(path: string): void {
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
