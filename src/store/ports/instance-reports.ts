/** What an instance of the fleet reported last. */
export interface InstanceReport {
  /** Its label `id`. */
  readonly id: string
  /** A status as JSON (`distribution/fleet.ts`). */
  readonly status: string
  /** Name of the token that reported it; undefined for services that share the store. */
  readonly reportedBy: string | undefined
  /** Epoch milliseconds. */
  readonly reportedMs: number
}

/** Reports are removed after this time without another one, in milliseconds. */
export const REPORT_KEPT_MS = 3_600_000
/** One more report removes the oldest. */
export const MAX_REPORTS = 5000

/** The last report of each instance. Raises AppError `unavailable`. */
export interface InstanceReports {
  readonly put: (report: Omit<InstanceReport, 'reportedMs'>) => Promise<void>
  readonly list: () => Promise<readonly InstanceReport[]>
}
