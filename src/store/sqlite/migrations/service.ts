import type { Kysely } from 'kysely'
import { sql } from 'kysely'

import type { Migrations } from '../engine/migrate.js'
import { createAnalysis } from './analysis.js'
import { createAudit, divideText, keepHalfDeadText, mergeTextInSteps, refuseReplacements } from './audit.js'
import { createGates } from './gates.js'
import { createOutbox } from './outbox.js'
import { createRegistry } from './registry.js'

/** The schema of `tidegate.db`, in the order in which its parts came. */
export const serviceMigrations: Migrations = {
  '0001-audit': { up: createAudit },
  '0002-outbox': { up: createOutbox },
  '0003-gates': { up: createGates },
  '0004-events': { up: createEventQueue },
  '0005-registry': { up: createRegistry },
  '0006-analysis': { up: createAnalysis },
  '0007-gate-ends': { up: addGateEnds },
  '0008-analysis-retention': { up: addAnalysisRetention },
  '0009-audit-text-merges': { up: mergeTextInSteps },
  '0010-audit-never-replaced': { up: refuseReplacements },
  '0011-analysis-attempts': { up: addLookAttempts },
  '0012-analysis-plan-parts': { up: createPlanParts },
  '0013-analysis-named-templates': { up: addNamedTemplates },
  '0014-audit-text-removals': { up: keepHalfDeadText },
  '0015-audit-text-parts': { up: divideText },
  '0016-gate-policy-problems': { up: addPolicyProblems },
}

/** How often the look that is due was begun without coming to an end: each time the process died with it. */
async function addLookAttempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('analysis_runs')
    .addColumn('look_attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}

/** Whether a template is found by its name alone: one that came without the right to replace is not. */
async function addNamedTemplates(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('analysis_templates')
    .addColumn('is_named', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()
}

/** When the data of a run were removed, and the runs that still have some by when they ended. */
async function addAnalysisRetention(db: Kysely<unknown>): Promise<void> {
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

/** Events that are stored, but not acted on yet. */
async function createEventQueue(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_queue')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .execute()
}

/** When the caller showed that it knows an instance, and the instances by when they ended. */
async function addGateEnds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('gate_instances').addColumn('acknowledged_ms', 'bigint').execute()
  await db.schema
    .createIndex('gate_instances_ended')
    .on('gate_instances')
    .columns(['decided_ms', 'id'])
    .where(sql.ref('decided_ms'), 'is not', null)
    .execute()
}

/** Why the policy of a gate left an instance to people. */
async function addPolicyProblems(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('gate_instances').addColumn('policy_problem', 'text').execute()
}

/** What many plans have in common, such as the metrics of a template, once. Plans that were stored before hold all of it themselves. */
async function createPlanParts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('analysis_plan_parts')
    .addColumn('sha256', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute()
}
