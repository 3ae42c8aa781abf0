import { Kysely, PostgresDialect, sql } from 'kysely'
import type { PostgresPoolClient } from 'kysely'
import type { EngineSql } from '../../queries/engine-sql.js'
import type { Queries } from './session.js'

export const POSTGRES: EngineSql = {
  openInstances: sql`gate_instances`,
  // Columns have the collation C, in which only ASCII letters have case.
  lowerName: sql<string>`lower(name collate "default")`,
}

/** Makes a query builder whose statements run on a session, within its current transaction. */
export function queryBuilder<Tables>(queries: Queries): Kysely<Tables> {
  const client = {
    query: (text: string, values: readonly unknown[]) => queries.query(text, values),
    release: () => undefined,
  } as unknown as PostgresPoolClient
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve() }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}
