import type { Database } from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import type { ServiceDatabase } from '../../tables/service-database.js'

/** A query builder whose statements run on a connection. */
export function queryBuilder(database: Database): Kysely<ServiceDatabase> {
  return new Kysely<ServiceDatabase>({ dialect: new SqliteDialect({ database }) })
}
