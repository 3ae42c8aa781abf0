import type { Compilable, Kysely } from 'kysely'

/** The values of a query's parameters, by name. */
type Values = Readonly<Record<string, unknown>>

/** A query that was compiled once. Each call runs it with other values. */
export interface PreparedQuery<Args extends object, Row> {
  readonly all: (args: Args) => Promise<Row[]>
  readonly first: (args: Args) => Promise<Row | undefined>
  /** Runs the query and returns the number of rows that it changed. */
  readonly run: (args: Args) => Promise<number>
}

/** Stands for a value that comes with each call. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Compiles the query that `build` makes of its arguments. Compiling takes Kysely about 15 µs,
 * several times as long as SQLite takes for a row, so queries of the write path are compiled once.
 * `build` must only pass its arguments on as values.
 */
export function prepareQuery<Tables, Args extends object, Row>(
  db: Kysely<Tables>,
  build: (args: Args) => Compilable<Row>,
): PreparedQuery<Args, Row> {
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })
  const { query, sql, parameters, queryId } = build(placeholders as Args).compile()
  const execute = (args: Values) => {
    const values = parameters.map((value) => (value instanceof Placeholder ? args[value.name] : value))
    return db.executeQuery<Row>({ query, sql, parameters: values, queryId })
  }
  return {
    all: async (args) => (await execute(args as Values)).rows,
    first: async (args) => (await execute(args as Values)).rows[0],
    run: async (args) => Number((await execute(args as Values)).numAffectedRows ?? 0n),
  }
}

/** The arguments of a query as a row to write: one placeholder for each column. */
export function rowOf<Row extends object, Column extends keyof Row>(
  args: Row,
  columns: readonly Column[],
): Pick<Row, Column> {
  return Object.fromEntries(columns.map((column) => [column, args[column]])) as Pick<Row, Column>
}
