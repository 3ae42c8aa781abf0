import type { TimelineDeps } from '../../../audit/execution-timeline.js'
import type { DecisionQueryDeps } from '../../../decisions/query-decisions.js'
import type { Policies } from '../../../rego/index.js'
import type { PageOptions } from '../../pages/answer-page.js'
import type { BrowserAccess } from '../../sessions/browser-access.js'
import type { AnalysisRoutesDeps } from '../analysis/analysis-deps.js'
import type { GateRoutesDeps } from '../gates/gate-routes-deps.js'

/** What the pages need. */
export interface PageRoutesDeps {
  readonly browsers: BrowserAccess
  readonly page: PageOptions
  readonly gates: GateRoutesDeps
  readonly analysis: AnalysisRoutesDeps
  readonly policies: Policies
  readonly timeline: TimelineDeps
  /** Absent where decisions are not kept. */
  readonly decisions: DecisionQueryDeps | undefined
}
