import type { RegisterCanaryDeps } from '../../../analysis/runs/register-canary.js'
import type { DefinitionTrials } from '../../../analysis/runs/try-definition.js'
import type { FindStageTemplates } from '../../../analysis/runs/definitions/stage-templates.js'
import type { ReadingOutage } from '../../../analysis/runs/reading-outage.js'
import type { ReportLinks } from '../../analysis-report/report-links.js'
export interface AnalysisRoutesDeps extends RegisterCanaryDeps {
  readonly trials: Pick<DefinitionTrials, 'try' | 'backtest'>
  readonly findStageTemplates: FindStageTemplates
  /** Tracks since when statuses cannot be read. */
  readonly outage: ReadingOutage
  /** Origins that may embed reports in a frame. */
  readonly frameAncestors: readonly string[]
  readonly publicUrl: string | undefined
  /** URL of the service for the orchestrator. */
  readonly orchestratorUrl: string | undefined
  readonly maxBodyBytes: number
  readonly now: () => number
  /** Tokens for people who follow the orchestrator's report link without signing in. */
  readonly reportLinks: ReportLinks
  /** Stops scheduling intervals of a run. */
  readonly forget: (id: number) => void
}
