import type { StoredRun } from '../../store/analysis-store.js'
import type { Reader } from '../../store/readers.js'
import { findLook, findRun, listLooks, unknownRun } from './analysis-operations.js'
import type { LookData } from './look-data.js'
import type { LookReport } from './look-report.js'
import type { RunPlan } from './plan.js'

/** A run without its plan and its looks. */
export interface RunSummary {
  readonly id: number
  readonly application: string
  readonly executionId: string | undefined
  readonly owner: string | undefined
  readonly state: StoredRun['state']
  readonly score: number | undefined
  readonly verdict: StoredRun['verdict']
  readonly message: string
  readonly errors: readonly string[]
  readonly looks: number
  readonly looksDone: number
  readonly startedAt: string
  readonly nextLookAt: string | undefined
  readonly finishedAt: string | undefined
}

/** One interval of a run, in short. */
export interface LookSummary {
  readonly look: number
  readonly at: string
  readonly score: number
  readonly verdict: LookReport['verdict']
  readonly reason: string
}

/** A run with its plan, its intervals, and the whole report and data of the last one. */
export interface ShownRun extends RunSummary {
  readonly plan: RunPlan
  readonly intervals: readonly LookSummary[]
  readonly report: LookReport | undefined
  readonly data: LookData | undefined
}

/** A run as lists show it. */
export function summariseRun(run: StoredRun): RunSummary {
  const { id, application, executionId, owner, state, score, verdict, message, errors, looks, looksDone } =
    run
  return {
    ...{ id, application, executionId, owner, state, score, verdict, message, errors, looks, looksDone },
    startedAt: new Date(run.startedMs).toISOString(),
    nextLookAt: state === 'RUNNING' ? new Date(run.nextLookMs).toISOString() : undefined,
    finishedAt: run.finishedMs === undefined ? undefined : new Date(run.finishedMs).toISOString(),
  }
}

/** A run with all that its report needs. Raises `not_found`. */
export async function showRun(reader: Reader, id: number): Promise<ShownRun> {
  const run = await reader.run(findRun, id)
  if (run === undefined) throw unknownRun(id)
  const looks = await reader.run(listLooks, id)
  const last = await reader.run(findLook, { id, look: run.looksDone })
  return {
    ...summariseRun(run),
    plan: JSON.parse(run.plan) as RunPlan,
    intervals: looks.map(({ look, atMs, report }) => {
      const { score, verdict, reason } = JSON.parse(report) as LookReport
      return { look, at: new Date(atMs).toISOString(), score, verdict, reason }
    }),
    report: last === undefined ? undefined : (JSON.parse(last.report) as LookReport),
    data: last === undefined ? undefined : (JSON.parse(last.data) as LookData),
  }
}
