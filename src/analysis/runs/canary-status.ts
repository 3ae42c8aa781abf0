import type { StoredRun } from '../../store/ports/analysis-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { RunPlan } from './definitions/plan.js'

const MS_PER_MINUTE = 60_000

/**
 * The status that clients of the orchestrator poll. Every member exists from the first response on
 * (orchestrator-clients.md, 3 and 4).
 */
export interface CanaryStatus {
  readonly id: string
  readonly owner: string
  readonly application: string
  /** `YYYY-MM-DD HH:mm:ss.SSS`, UTC. */
  readonly launchedDate: string
  readonly services: readonly string[]
  readonly status: { readonly complete: boolean; readonly status: 'RUNNING' | 'COMPLETED' | 'CANCELLED' }
  readonly canaryResult: {
    readonly duration: string
    readonly lastUpdated: string
    readonly canaryReportURL: string
    /**
     * The path of the report page in the orchestrator's interface, also while the run continues.
     */
    readonly verificationUrl?: string
    readonly overallScore: number
    readonly overallResult: 'Success' | 'Review' | 'Fail'
    readonly intervalNo: number
    readonly isLastRun: boolean
    readonly message: string
    readonly errors: readonly string[]
  }
  readonly canaryConfig: {
    readonly name: string
    readonly combinedCanaryResultStrategy: 'LOWEST'
    readonly minimumCanaryResultScore: number
    readonly maximumCanaryResultScore: number
    readonly lifetimeMinutes: number
    readonly canaryAnalysisIntervalMins: number
  }
}

/** A run with its status, without the URL of its report. */
export interface ShownStatus {
  readonly run: Pick<StoredRun, 'id' | 'startedMs' | 'plan'>
  readonly status: CanaryStatus
}

/**
 * The status of a run; undefined if there is no such run. Reading a plan of hundreds of services
 * takes a while.
 */
export const showCanaryStatus: ReadOperation<number, ShownStatus | undefined> = {
  name: 'analysis.canary-status',
  apply: async ({ analysis }, id) => {
    const run = await analysis.run(id)
    return (
      run && { run: { id: run.id, startedMs: run.startedMs, plan: run.plan }, status: canaryStatus(run, '') }
    )
  },
}

/** The status with the addresses of the report. */
export function withReportUrl(
  status: CanaryStatus,
  canaryReportURL: string,
  verificationUrl: string,
): CanaryStatus {
  return { ...status, canaryResult: { ...status.canaryResult, canaryReportURL, verificationUrl } }
}

/**
 * The status of a run for clients. Scores have at most two decimals. Until the first interval the
 * score is 0 and the result Review.
 */
export function canaryStatus(run: StoredRun, reportUrl: string): CanaryStatus {
  // The status is polled every few seconds and does not need the parts of the plan.
  const plan = JSON.parse(run.plan) as Pick<RunPlan, 'timing' | 'thresholds'> & {
    readonly targets: readonly { readonly name: string }[]
  }
  const { timing, thresholds } = plan
  const isComplete = run.state !== 'RUNNING'
  return {
    id: String(run.id),
    owner: run.owner ?? '',
    application: run.application,
    launchedDate: toDate(run.startedMs),
    services: plan.targets.map(({ name }) => name),
    status: { complete: isComplete, status: run.state },
    canaryResult: {
      duration: `${Math.round(((run.finishedMs ?? run.updatedMs) - run.startedMs) / MS_PER_MINUTE)} minutes`,
      lastUpdated: toDate(run.updatedMs),
      canaryReportURL: reportUrl,
      overallScore: run.score ?? 0,
      overallResult: run.verdict ?? (isComplete ? 'Fail' : 'Review'),
      intervalNo: run.intervalsDone,
      isLastRun: isComplete,
      message: run.message,
      errors: run.errors,
    },
    canaryConfig: {
      name: run.owner ?? '',
      combinedCanaryResultStrategy: 'LOWEST',
      minimumCanaryResultScore: thresholds.marginal,
      maximumCanaryResultScore: thresholds.pass,
      lifetimeMinutes: timing.lifetimeMs / MS_PER_MINUTE,
      canaryAnalysisIntervalMins: timing.intervalMs / MS_PER_MINUTE,
    },
  }
}

/**
 * The status of a run that does not exist. It has all members, since some clients read nothing
 * else.
 */
export function unknownCanaryStatus(id: string, message: string): CanaryStatus {
  return statusWithoutRun(id, message, 'CANCELLED')
}

/**
 * The status of a run that cannot be read at the moment. Clients continue to poll, since its state
 * is unknown.
 */
export function unreadableCanaryStatus(id: string, message: string): CanaryStatus {
  return statusWithoutRun(id, message, 'RUNNING')
}

function statusWithoutRun(
  id: string,
  message: string,
  status: CanaryStatus['status']['status'],
): CanaryStatus {
  const isComplete = status !== 'RUNNING'
  return {
    id,
    owner: '',
    application: '',
    launchedDate: toDate(0),
    services: [],
    status: { complete: isComplete, status },
    canaryResult: {
      duration: '0 minutes',
      lastUpdated: toDate(0),
      canaryReportURL: '',
      overallScore: 0,
      overallResult: 'Fail',
      intervalNo: 0,
      isLastRun: isComplete,
      message,
      errors: [message],
    },
    canaryConfig: {
      name: '',
      combinedCanaryResultStrategy: 'LOWEST',
      minimumCanaryResultScore: 0,
      maximumCanaryResultScore: 0,
      lifetimeMinutes: 0,
      canaryAnalysisIntervalMins: 0,
    },
  }
}

function toDate(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
}
