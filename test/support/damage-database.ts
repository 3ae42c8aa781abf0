import { closeSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'

/** Overwrites the first page of a table or an index in a database file that is not open. */
export function damageDatabase(path: string, tableOrIndex: string): void {
  const database = new Database(path)
  // The write-ahead log would hide the damage.
  database.pragma('wal_checkpoint(truncate)')
  const pageBytes = Number(database.pragma('page_size', { simple: true }))
  const findRoot = database.prepare<[string], number>('select rootpage from sqlite_schema where name = ?')
  const root = findRoot.pluck().get(tableOrIndex)
  database.close()
  if (root === undefined) throw new Error(`${path} has no ${tableOrIndex}`)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, (root - 1) * pageBytes)
  closeSync(file)
}
