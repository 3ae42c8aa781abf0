import type { RegisterCanaryDeps } from '../../analysis/runs/register-canary.js'

/** What the routes of analyses need. */
export interface AnalysisRoutesDeps extends RegisterCanaryDeps {
  readonly publicUrl: string | undefined
  readonly maxBodyBytes: number
  readonly now: () => number
  /** Lets whoever holds it read one report: a person who follows the orchestrator's link has no bearer token. */
  readonly reportToken: (id: number) => string
  /** A run takes no further looks. */
  readonly forget: (id: number) => void
}
