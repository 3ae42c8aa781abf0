import { sql } from 'kysely'
import {
  addAnalysisRetention,
  addFeedback,
  addLookAttempts,
  addNamedTemplates,
  createAnalysis,
  createPlanParts,
} from '../../schema/analysis.js'
import type { ColumnTypes } from '../../schema/column-types.js'
import { createExceptions } from '../../schema/exceptions.js'
import { addGateEnds, addGateRules, addPolicyProblems, createGates } from '../../schema/gates.js'
import { createNotifications } from '../../schema/notifications.js'
import { createOutbox, createRegistry } from '../../schema/records.js'
import type { Migrations } from '../engine/migrate.js'
import { createAudit, divideText, keepHalfDeadText, mergeTextInSteps, refuseReplacements } from './audit.js'

const TYPES: ColumnTypes = {
  text: sql`text`,
  bytes: sql`blob`,
  numbered: sql`integer primary key autoincrement`,
  rowId: sql`integer primary key`,
}

/** The schema of `tidegate.db`, in the order in which its parts were added. */
export const serviceMigrations: Migrations = {
  '0001-audit': { up: createAudit },
  '0002-outbox': { up: (db) => createOutbox(db, TYPES) },
  '0003-gates': { up: (db) => createGates(db, TYPES) },
  '0004-events': {
    /** Events that are stored and not acted on yet. */
    up: async (db) => {
      await sql`create table event_queue (seq integer primary key)`.execute(db)
    },
  },
  '0005-registry': { up: (db) => createRegistry(db, TYPES) },
  '0006-analysis': { up: (db) => createAnalysis(db, TYPES) },
  '0007-gate-ends': { up: addGateEnds },
  '0008-analysis-retention': { up: addAnalysisRetention },
  '0009-audit-text-merges': { up: mergeTextInSteps },
  '0010-audit-never-replaced': { up: refuseReplacements },
  '0011-analysis-attempts': { up: addLookAttempts },
  '0012-analysis-plan-parts': { up: (db) => createPlanParts(db, TYPES) },
  '0013-analysis-named-templates': { up: addNamedTemplates },
  '0014-audit-text-removals': { up: keepHalfDeadText },
  '0015-audit-text-parts': { up: divideText },
  '0016-gate-policy-problems': { up: (db) => addPolicyProblems(db, TYPES) },
  '0017-exceptions': { up: (db) => createExceptions(db, TYPES) },
  '0018-notifications': { up: (db) => createNotifications(db, TYPES) },
  '0019-analysis-feedback': { up: (db) => addFeedback(db, TYPES) },
  '0020-gate-rules': { up: (db) => addGateRules(db, TYPES) },
}
