import type { OpenDatabaseOptions } from './open-database.js'
import type { Database } from 'better-sqlite3'
import { Kysely, sql, SqliteDialect } from 'kysely'
import { remembered } from '../../../lib/remembered.js'
import type { EngineSql } from '../../queries/engine-sql.js'
import type { ServiceDatabase } from '../../tables/service-database.js'

/**
 * Returns the options of `tidegate.db`, which holds gates, outbox, trail, registry and analyses.
 * One file, so that a change of state, its audit record and its messages are one transaction.
 */
export function serviceDatabaseOptions(path: string): OpenDatabaseOptions {
  return {
    path,
    // An answer of 200 promises that the write survives a power cut.
    synchronous: 'full',
    applicationId: 0x54_47_73_76,
    incrementalVacuum: true,
  }
}

export const SQLITE: EngineSql = {
  // Named, since SQLite would choose the index of states and read every open instance.
  openInstances: sql`gate_instances indexed by gate_instances_open`,
  lowerName: sql<string>`lower(name)`,
}

/** Highest number of prepared statements. Only lists of different lengths make many. */
const MAX_STATEMENTS = 200

/**
 * Makes a query builder on a connection that prepares each statement once. A statement's memory is
 * freed when V8 collects it, and V8 does not know its size.
 */
export function queryBuilder<Tables = ServiceDatabase>(database: Database): Kysely<Tables> {
  const prepare = remembered((text: string) => database.prepare(text), MAX_STATEMENTS)
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }),
  })
}
