import { Kysely, PostgresDialect } from 'kysely'
import type { PostgresPoolClient } from 'kysely'
import type { Queries } from './session.js'

/** A query builder whose statements run on a session, within the transaction that is under way there. */
export function queryBuilder<Tables>(queries: Queries): Kysely<Tables> {
  const client = {
    query: (text: string, values: readonly unknown[]) => queries.query(text, values),
    release: () => undefined,
  } as unknown as PostgresPoolClient
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve() }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}
