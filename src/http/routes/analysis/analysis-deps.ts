import type { RegisterCanaryDeps } from '../../../analysis/runs/register-canary.js'
import type { DefinitionTrials } from '../../../analysis/runs/try-definition.js'
import type { FindStageTemplates } from '../../../analysis/runs/definitions/stage-templates.js'
import type { ReadingOutage } from '../../../analysis/runs/reading-outage.js'
import type { ReportLinks } from '../../analysis-report/report-links.js'

/** What the routes of analyses need. */
export interface AnalysisRoutesDeps extends RegisterCanaryDeps {
  readonly trials: Pick<DefinitionTrials, 'try'>
  readonly findStageTemplates: FindStageTemplates
  /** Since when statuses cannot be read. */
  readonly outage: ReadingOutage
  /** The origins whose pages may show reports in a frame. */
  readonly frameAncestors: readonly string[]
  readonly publicUrl: string | undefined
  /** Where the orchestrator reaches the service. */
  readonly orchestratorUrl: string | undefined
  readonly maxBodyBytes: number
  readonly now: () => number
  /** A person who follows the orchestrator's link to a report has no bearer token. */
  readonly reportLinks: ReportLinks
  /** No further interval of a run is judged. */
  readonly forget: (id: number) => void
}
