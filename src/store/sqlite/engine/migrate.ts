import SqliteDatabase from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import type { Migration } from 'kysely'
import { basename } from 'node:path'
import { AppError, toError } from '../../../errors/app-error.js'
import { toStoreError } from './sqlite-error.js'

/** Migrations by name. They run in the order of their names, which start with a number. */
export type Migrations = Readonly<Record<string, Migration>>

const HISTORY_TABLE = 'kysely_migration'

/**
 * Migrates the schema in one transaction and under a lock, even if several processes start
 * together. Raises AppError `unavailable` if a newer release wrote the file or a migration fails.
 */
export async function migrate(database: Database, migrations: Migrations): Promise<void> {
  const action = `migrate ${basename(database.name)}`
  try {
    // Kysely runs SQLite migrations without a transaction. This one is also the lock between
    // processes.
    database.exec('begin immediate')
    const done = doneMigrations(database)
    refuseNewerSchema(action, done, migrations)
    // Loading Kysely's migrator is slow, and most starts do not need it.
    if (done.length < Object.keys(migrations).length) await runMigrations(database, migrations)
    database.exec('commit')
  } catch (raw) {
    if (database.inTransaction) database.exec('rollback')
    throw toStoreError(action, raw)
  }
}

/** Raises `unavailable` for a file of a newer release. Changes nothing. */
export function checkRelease(path: string, migrations: Migrations): void {
  const database = new SqliteDatabase(path, { fileMustExist: true, readonly: true })
  try {
    refuseNewerSchema(`read ${basename(path)}`, doneMigrations(database), migrations)
  } finally {
    database.close()
  }
}

/**
 * Names of the applied migrations, in order. Reads the rows and not only the index, so that a
 * damaged table is found at the start.
 */
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
