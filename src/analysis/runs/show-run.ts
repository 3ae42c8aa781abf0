import type { StoredFeedback, StoredRun } from '../../store/ports/analysis-store.js'
import { AppError } from '../../errors/app-error.js'
import type { ReadOperation, Readers } from '../../store/ports/readers.js'
import { unknownRun } from './analysis-operations.js'
import { joinPlan, partsOf } from './definitions/kept-plan.js'
import type { IntervalData } from './intervals/interval-data.js'
import type { IntervalReport } from './intervals/interval-report.js'
import { unpackData } from './intervals/pack-interval.js'
import type { RunPlan } from './definitions/plan.js'
import { redactSecrets } from '../../lib/redaction/redact.js'

/**
 * A run without its plan and the reports of its intervals. `looks`, `looksDone` and `nextLookAt`
 * are names of earlier releases.
 */
export interface RunSummary {
  readonly id: number
  readonly application: string
  readonly executionId: string | undefined
  readonly owner: string | undefined
  readonly state: StoredRun['state']
  readonly score: number | undefined
  /** Why the score says nothing. Absent if it says something. */
  readonly unscored: string | undefined
  readonly verdict: StoredRun['verdict']
  readonly message: string
  readonly errors: readonly string[]
  readonly intervalCount: number
  readonly intervalsDone: number
  readonly looks: number
  readonly looksDone: number
  readonly startedAt: string
  readonly nextIntervalAt: string | undefined
  readonly nextLookAt: string | undefined
  readonly finishedAt: string | undefined
  /** When the data and reports of its intervals were removed, being old; the verdict stays. */
  readonly dataRemovedAt: string | undefined
  readonly feedback: (Omit<StoredFeedback, 'atMs'> & { readonly at: string }) | undefined
}

/** A summary of one interval of a run. `look` is its number under the name of earlier releases. */
export interface IntervalSummary {
  readonly interval: number
  readonly look: number
  readonly at: string
  readonly score: number
  readonly unscored?: string | undefined
  readonly verdict: IntervalReport['verdict']
  readonly reason: string
}

/** A run with its plan, its intervals, and the last report with its fetched data. */
export interface ShownRun extends RunSummary {
  readonly plan: RunPlan
  readonly intervals: readonly IntervalSummary[]
  readonly report: IntervalReport | undefined
  readonly data: IntervalData | undefined
}

/** A run as lists show it. */
export function summariseRun(run: StoredRun): RunSummary {
  const { id, application, executionId, owner, state, score, unscored, verdict, message, errors } = run
  const { intervals, intervalsDone } = run
  const nextIntervalAt = state === 'RUNNING' ? toText(run.nextIntervalMs) : undefined
  return {
    ...{ id, application, executionId, owner, state, score, unscored, verdict, message, errors },
    ...{ intervalCount: intervals, intervalsDone, looks: intervals, looksDone: intervalsDone },
    startedAt: toText(run.startedMs),
    nextIntervalAt,
    nextLookAt: nextIntervalAt,
    finishedAt: run.finishedMs === undefined ? undefined : toText(run.finishedMs),
    dataRemovedAt: run.dataRemovedMs === undefined ? undefined : toText(run.dataRemovedMs),
    feedback: shownFeedback(run),
  }
}

function shownFeedback({ feedback }: StoredRun): RunSummary['feedback'] {
  if (feedback === undefined) return undefined
  const { atMs, ...rest } = feedback
  return { ...rest, at: toText(atMs) }
}

/** A run with all that its report shows, but for the lines of its logs. Raises `not_found`. */
export async function collectRun({ analysis }: Readers, id: number): Promise<ShownRun> {
  const run = await analysis.run(id)
  if (run === undefined) throw unknownRun(id)
  const intervals = await analysis.intervals(id)
  const last = await analysis.interval(id, run.intervalsDone)
  return {
    ...summariseRun(run),
    plan: await shownPlan(analysis, run.plan),
    intervals: intervals.map(({ interval, atMs, report }) => {
      const { score, unscored, verdict, reason } = JSON.parse(report) as IntervalReport
      return { interval, look: interval, at: toText(atMs), score, unscored, verdict, reason }
    }),
    report: last === undefined ? undefined : (JSON.parse(last.report) as IntervalReport),
    data: last === undefined ? undefined : unpackData(last.data),
  }
}

/** A plan without secrets; what its services have in common is redacted once. */
async function shownPlan(analysis: Readers['analysis'], plan: string): Promise<RunPlan> {
  const parts = await analysis.planParts(partsOf(plan))
  const shown = [...parts].map(([sha256, body]) => [sha256, JSON.stringify(shownDocument(body))] as const)
  return joinPlan(JSON.stringify(shownDocument(plan)), new Map(shown))
}

/** A run as JSON text, without the fetched data. Raises `not_found`. */
export const showRun: ReadOperation<number, string> = {
  name: 'analysis.show',
  apply: async (readers, id) => JSON.stringify({ ...(await collectRun(readers, id)), data: undefined }),
}

/**
 * The fetched data of an interval as gzip over JSON: either the lines of logs or everything else.
 */
export interface IntervalDataRequest {
  readonly id: number
  /** The last interval by default. */
  readonly interval: number | undefined
  readonly part: 'data' | 'lines'
}

/** Returns what was fetched for an interval. Raises `not_found`. */
export const showIntervalData: ReadOperation<IntervalDataRequest, Uint8Array> = {
  name: 'analysis.interval-data',
  apply: async ({ analysis }, { id, interval: requested, part }) => {
    const run = await analysis.run(id)
    if (run === undefined) throw unknownRun(id)
    const interval = requested ?? run.intervalsDone
    const found = await analysis.interval(id, interval)
    if (found !== undefined) return found[part]
    throw missingInterval(run, interval)
  },
}

/** The report of one interval as JSON text. Raises `not_found`. */
export const showIntervalReport: ReadOperation<{ readonly id: number; readonly interval: number }, string> = {
  name: 'analysis.interval-report',
  apply: async ({ analysis }, { id, interval }) => {
    const found = await analysis.interval(id, interval)
    if (found !== undefined) return found.report
    const run = await analysis.run(id)
    throw run === undefined ? unknownRun(id) : missingInterval(run, interval)
  },
}

function missingInterval(
  { id, intervals, intervalsDone, dataRemovedMs }: StoredRun,
  interval: number,
): AppError {
  const isLeftOut = interval > 0 && interval < intervalsDone
  const why =
    dataRemovedMs !== undefined
      ? `its data and report were removed at ${toText(dataRemovedMs)} because they were older than analysis.maxAgeDays`
      : isLeftOut
        ? 'it was skipped because the run was late'
        : `${intervalsDone} of ${intervals} are done`
  return new AppError('not_found', `analysis ${id} has no interval ${interval}: ${why}`)
}

function toText(ms: number): string {
  return new Date(ms).toISOString()
}

/**
 * A plan or a definition in JSON text without the secrets in queries, templates and scopes. Its
 * numbers stay, since weights are named by their groups.
 */
export function shownDocument(json: string): unknown {
  return JSON.parse(redactSecrets(Buffer.from(json), { keepsNumbers: true }).text.toString())
}
