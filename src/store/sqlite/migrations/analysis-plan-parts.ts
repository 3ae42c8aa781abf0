import type { Kysely } from 'kysely'

/** What many plans have in common, such as the metrics of a template, once. Plans that were kept before hold all of it themselves. */
export async function createPlanParts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('analysis_plan_parts')
    .addColumn('sha256', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute()
}
