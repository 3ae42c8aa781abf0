import type { RawBuilder } from 'kysely'

/**
 * Types of columns that engines name differently. `bigint` and `integer` are the same in all of
 * them.
 */
export interface ColumnTypes {
  /** Text that is ordered and compared by its bytes. */
  readonly text: RawBuilder<unknown>
  readonly bytes: RawBuilder<unknown>
  /** A primary key that the database counts up. No number is given twice. */
  readonly numbered: RawBuilder<unknown>
  /** A primary key of the database's choice. */
  readonly rowId: RawBuilder<unknown>
}
