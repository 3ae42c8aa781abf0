import type { OpenDatabaseOptions } from './open-database.js'
import type { Database } from 'better-sqlite3'
import { Kysely, sql, SqliteDialect } from 'kysely'
import { remembered } from '../../../lib/remembered.js'
import type { EngineSql } from '../../queries/engine-sql.js'
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

export const SQLITE: EngineSql = {
  // The index is named, since SQLite would take the index of states and read every open instance.
  openInstances: sql`gate_instances indexed by gate_instances_open`,
  lowerName: sql<string>`lower(name)`,
}

/** Texts of queries are few, but for lists of different length. */
const MOST_STATEMENTS = 200

/**
 * A query builder whose statements run on a connection. Each text is prepared once: the memory of a statement is given back when V8 finds it dead, and
 * V8 does not see how much that is.
 */
export function queryBuilder<Tables = ServiceDatabase>(database: Database): Kysely<Tables> {
  const prepare = remembered((text: string) => database.prepare(text), MOST_STATEMENTS)
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }),
  })
}
