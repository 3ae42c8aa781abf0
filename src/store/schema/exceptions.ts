import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { ColumnTypes } from './column-types.js'

/** Exceptions from policies. */
export async function createExceptions(db: Kysely<unknown>, { text, numbered }: ColumnTypes): Promise<void> {
  await sql`create table exceptions (
    id ${numbered}, package ${text} not null, application ${text}, pipeline ${text}, reason ${text} not null,
    owner ${text} not null, created_ms bigint not null, until_ms bigint not null, needs_approval integer not null,
    approver ${text}, approved_ms bigint, noticed_ms bigint)`.execute(db)
  await db.schema.createIndex('exceptions_by_end').on('exceptions').columns(['until_ms', 'id']).execute()
  await db.schema.createIndex('exceptions_by_package').on('exceptions').columns(['package', 'id']).execute()
}
