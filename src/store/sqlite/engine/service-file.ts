import type { OpenDatabaseOptions } from './open-database.js'
import type { Database } from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import type { ServiceDatabase } from '../../tables/service-database.js'

/**
 * How `tidegate.db` is opened: the durable records of gates, outbox, trail, registry and analyses. They share a file so
 * that a change of state, its audit record and its outbox rows are one transaction.
 */
export function serviceDatabaseOptions(path: string): OpenDatabaseOptions {
  return {
    path,
    // An answer of 200 promises that what it acknowledges survives a power cut.
    synchronous: 'full',
    applicationId: 0x54_47_73_76,
    incrementalVacuum: true,
  }
}

/** A query builder whose statements run on a connection. */
export function queryBuilder(database: Database): Kysely<ServiceDatabase> {
  return new Kysely<ServiceDatabase>({ dialect: new SqliteDialect({ database }) })
}
