import type { Kysely } from 'kysely'
import type { AnalysisRepository, NewRun, PlanPart, RunProgress } from '../ports/analysis-store.js'
import { packText, toStoredDefinition, toStoredRun } from '../tables/analysis-tables.js'
import { findTemplate } from './analysis-reader.js'
import type { ServiceDatabase } from '../tables/service-database.js'

type Db = Kysely<ServiceDatabase>

/** Makes the repository of analyses on a connection that writes. */
export function makeAnalysisRepository(db: Kysely<ServiceDatabase>): AnalysisRepository {
  return {
    ...definitionsOf(db),
    insertRun: (run, planParts) => insertRun(db, run, planParts),
    findRun: async (id) => {
      const row = await db.selectFrom('analysis_runs').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : toStoredRun(row)
    },
    saveProgress: (progress) => saveProgress(db, progress),
    saveFeedback: async (id, feedback) => {
      const row = { feedback: JSON.stringify(feedback) }
      await db.updateTable('analysis_runs').set(row).where('id', '=', id).execute()
    },
    saveIntervalAttempts: async (id, attempts) => {
      await db.updateTable('analysis_runs').set({ look_attempts: attempts }).where('id', '=', id).execute()
    },
    saveInterval: async ({ runId, interval, atMs, report, data, lines }) => {
      const row = { at_ms: atMs, report: packText(report), data, lines }
      await db
        .insertInto('analysis_looks')
        .values({ run_id: runId, look: interval, ...row })
        .onConflict((conflict) => conflict.columns(['run_id', 'look']).doUpdateSet(row))
        .execute()
    },
    deleteIntervals: (runId, limit) => deleteIntervals(db, runId, limit),
    markDataRemoved: async (runId, nowMs) => {
      await db.updateTable('analysis_runs').set({ data_removed_ms: nowMs }).where('id', '=', runId).execute()
    },
    rememberLogTemplates: async (application, keys, runId) => {
      for (const key of keys) {
        await db
          .insertInto('analysis_log_history')
          .values({ application, key, first_run: runId, last_run: runId })
          .onConflict((conflict) => conflict.columns(['application', 'key']).doUpdateSet({ last_run: runId }))
          .execute()
      }
    },
  }
}

async function deleteIntervals(db: Db, runId: number, limit: number): Promise<number> {
  const intervals = db
    .selectFrom('analysis_looks')
    .select('look')
    .where('run_id', '=', runId)
    .orderBy('look')
    .limit(limit)
  const query = db.deleteFrom('analysis_looks').where('run_id', '=', runId).where('look', 'in', intervals)
  return Number((await query.executeTakeFirst()).numDeletedRows)
}

type DefinitionMethods =
  | 'saveDefinition'
  | 'findDefinition'
  | 'deleteDefinition'
  | 'saveTemplate'
  | 'findTemplate'
  | 'deleteTemplates'
  | 'countTemplates'
  | 'deleteOldestTemplate'

function definitionsOf(db: Db): Pick<AnalysisRepository, DefinitionMethods> {
  return {
    saveDefinition: async ({ application, definition, origin, updatedMs, updatedBy }) => {
      const row = { definition, origin, updated_ms: updatedMs, updated_by: updatedBy ?? null }
      await db
        .insertInto('analysis_definitions')
        .values({ application, ...row })
        .onConflict((conflict) => conflict.column('application').doUpdateSet(row))
        .execute()
    },
    findDefinition: async (application) => {
      const query = db.selectFrom('analysis_definitions').selectAll().where('application', '=', application)
      const row = await query.executeTakeFirst()
      return row === undefined ? undefined : toStoredDefinition(row)
    },
    deleteDefinition: async (application) => {
      const query = db.deleteFrom('analysis_definitions').where('application', '=', application)
      return (await query.executeTakeFirst()).numDeletedRows > 0n
    },
    findTemplate: (type, name, sha1) => findTemplate(db, type, name, sha1),
    countTemplates: async () => {
      const query = db
        .selectFrom('analysis_templates')
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
      return Number((await query.executeTakeFirstOrThrow()).count)
    },
    deleteOldestTemplate: async () => {
      const unnamed = db
        .selectFrom('analysis_templates')
        .select(['type', 'name', 'sha1'])
        .where('is_named', '=', 0)
      const oldest = await unnamed.orderBy('created_ms').limit(1).executeTakeFirst()
      if (oldest === undefined) return false
      const { type, name, sha1 } = oldest
      const query = db.deleteFrom('analysis_templates').where('type', '=', type).where('name', '=', name)
      await query.where('sha1', '=', sha1).execute()
      return true
    },
    deleteTemplates: async (type, name) => {
      const query = db.deleteFrom('analysis_templates').where('type', '=', type).where('name', '=', name)
      return (await query.executeTakeFirst()).numDeletedRows > 0n
    },
    saveTemplate: async ({ type, name, sha1, body, createdMs, isNamed }) => {
      const row = { body, created_ms: createdMs, is_named: isNamed ? (1 as const) : (0 as const) }
      if (isNamed) {
        const others = db.updateTable('analysis_templates').set({ is_named: 0 })
        await others.where('type', '=', type).where('name', '=', name).execute()
      }
      await db
        .insertInto('analysis_templates')
        .values({ type, name, sha1, ...row })
        .onConflict((conflict) => conflict.columns(['type', 'name', 'sha1']).doUpdateSet(row))
        .execute()
    },
  }
}

async function insertRun(db: Db, run: NewRun, planParts: readonly PlanPart[]): Promise<number> {
  for (const part of planParts) {
    await db
      .insertInto('analysis_plan_parts')
      .values(part)
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .execute()
  }
  const { id } = await db
    .insertInto('analysis_runs')
    .values({
      application: run.application,
      execution_id: run.executionId ?? null,
      owner: run.owner ?? null,
      state: 'RUNNING',
      plan: run.plan,
      started_ms: run.startedMs,
      looks: run.intervals,
      looks_done: 0,
      next_look_ms: run.nextIntervalMs,
      message: 'waiting for the first interval to end',
      errors: '[]',
      updated_ms: run.startedMs,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function saveProgress(db: Db, progress: RunProgress): Promise<void> {
  await db
    .updateTable('analysis_runs')
    .set({
      state: progress.state,
      looks_done: progress.intervalsDone,
      look_attempts: 0,
      next_look_ms: progress.nextIntervalMs,
      score: progress.score ?? null,
      unscored: progress.unscored ?? null,
      verdict: progress.verdict ?? null,
      message: progress.message,
      errors: JSON.stringify(progress.errors),
      finished_ms: progress.finishedMs ?? null,
      updated_ms: progress.updatedMs,
    })
    .where('id', '=', progress.id)
    .execute()
}
