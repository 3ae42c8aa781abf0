import type { Migration } from 'kysely'
import type { Schema } from '../engine/migrate.js'
import { addNamedTemplates, createAnalysis } from './analysis.js'
import { createAudit } from './audit.js'
import { partAudit } from './audit-months.js'
import { addTokenDigests, createBrowserSessions } from './browser-sessions.js'
import { addBuiltinCache, addPackages, createDecisions, createDenyingPackages } from './decisions.js'
import { addPolicyProblems, createGates } from './gates.js'
import { createOutbox } from './outbox.js'
import { createRegistry } from './registry.js'
import { createSharing } from './sharing.js'

/** The parts of the schema, in the order in which they came. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-audit': { up: createAudit },
  '0002-outbox': { up: createOutbox },
  '0003-gates': { up: createGates },
  '0004-registry': { up: createRegistry },
  '0005-analysis': { up: createAnalysis },
  '0006-sharing': { up: createSharing },
  '0007-decisions': { up: createDecisions },
  '0008-analysis-named-templates': { up: addNamedTemplates },
  '0009-audit-months': { up: partAudit },
  '0010-browser-sessions': { up: createBrowserSessions },
  '0011-decisions-nd-builtin-cache': { up: addBuiltinCache },
  '0012-browser-sessions-token-digest': { up: addTokenDigests },
  '0013-decisions-packages': { up: addPackages },
  '0014-decision-packages': { up: createDenyingPackages },
  '0015-gate-policy-problems': { up: addPolicyProblems },
}

/** The newest schema that this release knows. Raise `oldestWriter` with a migration that earlier releases do not know how to keep. */
export const serviceSchema: Schema = { migrations, version: 15, oldestWriter: 9 }
