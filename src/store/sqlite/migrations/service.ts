import type { Migrations } from '../migrate.js'
import { createAnalysis } from './analysis.js'
import { addLookAttempts } from './analysis-attempts.js'
import { createPlanParts } from './analysis-plan-parts.js'
import { addAnalysisRetention } from './analysis-retention.js'
import { createAudit, mergeTextInSteps, refuseReplacements } from './audit.js'
import { createEventQueue } from './events.js'
import { addGateEnds } from './gate-ends.js'
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
}
