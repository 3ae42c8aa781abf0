import type { Config } from '../config/config.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { Logger } from '../lib/logger.js'
import type { OpenAnalysis } from './open-analysis.js'
import type { OpenEvaluations } from './evaluations/open-evaluations.js'
import type { Decisions } from './open-decisions.js'
import type { OpenGates } from './open-gates.js'
import type { OpenOutbox } from './open-outbox.js'
import type { OpenRegistry } from './open-registry.js'
import type { OpenTrail } from './open-trail.js'
import type { BackgroundWork } from './background-work.js'
import type { Policies } from '../rego/index.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'

/** All parts, ready to be asked. */
export interface ServedParts {
  readonly config: Config
  readonly logger: Logger
  readonly store: ServiceStore
  readonly decisions: Decisions
  readonly policies: Policies
  readonly evaluations: OpenEvaluations
  readonly metrics: ServiceMetrics
  readonly outbox: OpenOutbox
  readonly gates: OpenGates
  readonly trail: OpenTrail
  readonly registry: OpenRegistry
  readonly analysis: OpenAnalysis
  readonly backgroundWork: BackgroundWork
  readonly threadDied: (death: ThreadDeath) => void
}
