import { sql } from 'kysely'
import type { Kysely } from 'kysely'

/** When the data of a run were removed, and the runs that still have some by when they ended. */
export async function addAnalysisRetention(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('analysis_runs').addColumn('data_removed_ms', 'bigint').execute()
  await db.schema
    .createIndex('analysis_runs_kept')
    .on('analysis_runs')
    .columns(['finished_ms', 'id'])
    .where(sql.ref('finished_ms'), 'is not', null)
    .where(sql.ref('data_removed_ms'), 'is', null)
    .where(sql.ref('looks_done'), '>', sql.lit(0))
    .execute()
}
