import Database from 'better-sqlite3'

import { AppError } from '../../../errors/app-error.js'
import { MAX_ID } from '../../ports/gate.js'
import { toStoreError } from '../engine/sqlite-error.js'

/** Others know what is in these by its number, and ask for it. */
const NUMBERED = ['gate_instances', 'analysis_runs', 'outbox'] as const
/** More than any service gives between two backups. */
const STEP = 1_000_000

/**
 * Lets no number be given again that may have been given after a backup was made: who still asks for an instance that is gone must not be
 * told of another's approval. Numbers go on at the next million. Raises `unavailable` where there are none left, or the database cannot be written.
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
