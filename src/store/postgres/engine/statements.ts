import type { QueryResultRow } from 'pg'
import type { Queries } from './session.js'

/** The rows of a statement. */
export async function all<Row extends QueryResultRow>(
  queries: Queries,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await queries.query<Row>(text, values)).rows
}

/** The first row of a statement. */
export async function first<Row extends QueryResultRow>(
  queries: Queries,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row | undefined> {
  return (await queries.query<Row>(text, values)).rows[0]
}

/** Runs a statement; returns how many rows it changed. */
export async function run(queries: Queries, text: string, values: readonly unknown[] = []): Promise<number> {
  return (await queries.query(text, values)).rowCount ?? 0
}

/** `$1, $2, $3` for so many parameters. */
export function places(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}
