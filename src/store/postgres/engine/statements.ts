import type { QueryResultRow } from 'pg'
import type { Queries } from './session.js'

/** Returns the rows of a statement. */
export async function all<Row extends QueryResultRow>(
  queries: Queries,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await queries.query<Row>(text, values)).rows
}

/** Returns the first row of a statement. */
export async function first<Row extends QueryResultRow>(
  queries: Queries,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row | undefined> {
  return (await queries.query<Row>(text, values)).rows[0]
}

/** Runs a statement. Returns the number of changed rows. */
export async function run(queries: Queries, text: string, values: readonly unknown[] = []): Promise<number> {
  return (await queries.query(text, values)).rowCount ?? 0
}
