import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type {
  AnalysisReader,
  RunFilter,
  StoredRun,
  StoredTemplate,
  TemplateType,
} from '../ports/analysis-store.js'
import { toStoredDefinition, toStoredRun, unpackText } from '../tables/analysis-tables.js'
import type { ServiceDatabase } from '../tables/service-database.js'

type Db = Kysely<ServiceDatabase>

/** Reads analyses on any connection. */
export function makeAnalysisReader(db: Kysely<ServiceDatabase>): AnalysisReader {
  return {
    ...settingsOf(db),
    run: async (id) => {
      const row = await db.selectFrom('analysis_runs').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : toStoredRun(row)
    },
    runs: (filter) => listRuns(db, filter),
    planParts: async (sha256s) => {
      if (sha256s.length === 0) return new Map()
      const query = db.selectFrom('analysis_plan_parts').selectAll().where('sha256', 'in', sha256s)
      return new Map((await query.execute()).map(({ sha256, body }) => [sha256, body]))
    },
    expiredRun: (beforeMs) => findExpiredRun(db, beforeMs),
    interval: async (runId, interval) => {
      const query = db
        .selectFrom('analysis_looks')
        .selectAll()
        .where('run_id', '=', runId)
        .where('look', '=', interval)
      const row = await query.executeTakeFirst()
      if (row === undefined) return undefined
      return {
        runId,
        interval,
        atMs: row.at_ms,
        report: unpackText(row.report),
        data: row.data,
        lines: row.lines,
      }
    },
    intervals: async (runId) => {
      const rows = await db
        .selectFrom('analysis_looks')
        .select(['look', 'at_ms', 'report'])
        .where('run_id', '=', runId)
        .orderBy('look')
        .execute()
      return rows.map(({ look: interval, at_ms, report }) => ({
        runId,
        interval,
        atMs: at_ms,
        report: unpackText(report),
      }))
    },
  }
}

type SettingsMethods = 'definition' | 'definitions' | 'template' | 'templateNames' | 'logTemplates'

function settingsOf(db: Db): Pick<AnalysisReader, SettingsMethods> {
  return {
    definition: async (application) => {
      const query = db.selectFrom('analysis_definitions').selectAll().where('application', '=', application)
      const row = await query.executeTakeFirst()
      return row === undefined ? undefined : toStoredDefinition(row)
    },
    definitions: async () => {
      const rows = await db.selectFrom('analysis_definitions').selectAll().orderBy('application').execute()
      return rows.map(toStoredDefinition)
    },
    template: (type, name, sha1) => findTemplate(db, type, name, sha1),
    templateNames: async (type) => {
      const query = db.selectFrom('analysis_templates').select('name').distinct().where('type', '=', type)
      return (await query.orderBy('name').execute()).map(({ name }) => name)
    },
    logTemplates: async (application) => {
      const query = db.selectFrom('analysis_log_history').select('key').where('application', '=', application)
      return (await query.execute()).map(({ key }) => key)
    },
  }
}

/**
 * Returns the template of a name and a SHA-1, or without a SHA-1 the newest one that can be found
 * by its name alone.
 */
export async function findTemplate(
  db: Db,
  type: TemplateType,
  name: string,
  sha1?: string,
): Promise<StoredTemplate | undefined> {
  const query = db
    .selectFrom('analysis_templates')
    .selectAll()
    .where('type', '=', type)
    .where('name', '=', name)
  const one = sha1 === undefined ? query.where('is_named', '=', 1) : query.where('sha1', '=', sha1)
  const row = await one.orderBy('created_ms', 'desc').limit(1).executeTakeFirst()
  if (row === undefined) return undefined
  return {
    ...{ type, name, sha1: row.sha1, body: row.body },
    createdMs: row.created_ms,
    isNamed: row.is_named === 1,
  }
}

async function listRuns(
  db: Db,
  { application, state, executionId, fromMs, toMs, beforeId, hasFeedback, limit }: RunFilter,
): Promise<readonly StoredRun[]> {
  let query = db.selectFrom('analysis_runs').selectAll().orderBy('id', 'desc').limit(limit)
  if (application !== undefined) query = query.where('application', '=', application)
  if (state !== undefined) query = query.where('state', '=', state)
  if (executionId !== undefined) query = query.where('execution_id', '=', executionId)
  if (fromMs !== undefined) query = query.where('started_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('started_ms', '<', toMs)
  if (beforeId !== undefined) query = query.where('id', '<', beforeId)
  if (hasFeedback === true) query = query.where('feedback', 'is not', null)
  return (await query.execute()).map(toStoredRun)
}

/** Repeats the conditions of the partial index, so that the index serves the query. */
async function findExpiredRun(db: Db, beforeMs: number): Promise<number | undefined> {
  const query = db
    .selectFrom('analysis_runs')
    .select('id')
    .where('finished_ms', '<', beforeMs)
    .where('data_removed_ms', 'is', null)
    .where('looks_done', '>', sql.lit(0))
    .orderBy('finished_ms')
    .orderBy('id')
    .limit(1)
  return (await query.executeTakeFirst())?.id
}
