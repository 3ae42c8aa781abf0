import SqliteDatabase from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import type { Migration } from 'kysely'
import { basename } from 'node:path'
import { AppError, toError } from '../../../errors/app-error.js'
import { toStoreError } from './sqlite-error.js'

/** Migrations by name; they run in the order of their names, so the names start with a number. */
export type Migrations = Readonly<Record<string, Migration>>

const HISTORY_TABLE = 'kysely_migration'

/**
 * Brings the schema up to date, all or nothing, and alone even when several processes start at once. Raises AppError
 * `unavailable` when the file was written by a newer release or a migration fails.
 */
export async function migrate(database: Database, migrations: Migrations): Promise<void> {
  const action = `migrate ${basename(database.name)}`
  try {
    // Kysely runs SQLite migrations outside a transaction; this one also serves as the lock between processes.
    database.exec('begin immediate')
    const done = doneMigrations(database)
    refuseNewerSchema(action, done, migrations)
    // Each start asks; what makes tables is slow to get going.
    if (done.length < Object.keys(migrations).length) await runMigrations(database, migrations)
    database.exec('commit')
  } catch (raw) {
    if (database.inTransaction) database.exec('rollback')
    throw toStoreError(action, raw)
  }
}

/** Raises `unavailable` for a file that a newer release wrote. Changes nothing in it. */
export function checkRelease(path: string, migrations: Migrations): void {
  const database = new SqliteDatabase(path, { fileMustExist: true, readonly: true })
  try {
    refuseNewerSchema(`read ${basename(path)}`, doneMigrations(database), migrations)
  } finally {
    database.close()
  }
}

/** The names of what the file has been through, in their order. Reads the rows, not their index alone: a damaged table is found at the start. */
function doneMigrations(database: Database): readonly { readonly name: string }[] {
  const history = database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
  if (history.get(HISTORY_TABLE) === undefined) return []
  return database.prepare<[], { name: string }>(`select * from ${HISTORY_TABLE} order by name`).all()
}

function refuseNewerSchema(
  action: string,
  done: ReturnType<typeof doneMigrations>,
  migrations: Migrations,
): void {
  const unknown = done.find(({ name }) => !(name in migrations))
  if (unknown === undefined) return
  throw new AppError(
    'unavailable',
    `${action}: the file was written by a newer release (it has "${unknown.name}"): upgrade, or use another data directory`,
  )
}

async function runMigrations(database: Database, migrations: Migrations): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database }) }),
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableName: HISTORY_TABLE,
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw toError(error)
}
