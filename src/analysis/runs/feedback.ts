import { AppError } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { Judgement, StoredFeedback, StoredRun } from '../../store/ports/analysis-store.js'
import type { ReadOperation, Reader } from '../../store/ports/readers.js'
import type { WriteOperation, Writer } from '../../store/ports/transaction.js'
import { entryOf, unknownRun } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'
import type { IntervalReport } from './intervals/interval-report.js'

/** What a person says about the verdict of a run. */
export interface FeedbackRequest {
  readonly id: number
  readonly judgement: Judgement
  /** The metrics that it is about. If there are none, those that caused a right or false alarm. */
  readonly metrics: readonly string[]
  readonly comment: string | undefined
}

/** Judgements about a metric of the verdicts of an application. */
export interface MetricPrecision {
  readonly metric: string
  readonly right: number
  readonly falseAlarms: number
  readonly missed: number
  /** The share of right alarms. Null without any. */
  readonly precision: number | null
}

/** Judgements about the verdicts of an application. */
export interface Precision {
  readonly application: string
  readonly right: number
  readonly falseAlarms: number
  readonly missed: number
  readonly metrics: readonly MetricPrecision[]
}

const MAX_RUNS = 1000

/**
 * Stores what a person says about a verdict, in place of an earlier judgement. Raises `not_found`,
 * `conflict` if the verdict cannot be of that kind, and `invalid` for unknown metrics.
 */
export async function giveFeedback(
  { writer, reader }: { readonly writer: Writer; readonly reader: Reader },
  { id, judgement, metrics, comment }: FeedbackRequest,
  actor: Actor,
): Promise<StoredRun> {
  const { flagged, known } = await reader.run(metricsOfRun, id)
  const unknown = metrics.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw unknownMetrics(id, unknown, known)
  const about = metrics.length > 0 || judgement === 'missed' ? metrics : flagged
  const feedback: StoredFeedback = {
    ...{ judgement, metrics: [...new Set(about)], atMs: actor.nowMs },
    ...(comment !== undefined && { comment }),
    ...(actor.user !== undefined && { by: actor.user }),
  }
  return await writer.run(saveFeedback, { id, feedback, actor })
}

function unknownMetrics(id: number, unknown: readonly string[], known: readonly string[]): AppError {
  const nearest = nearestName(unknown[0] ?? '', known)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return new AppError('invalid', `analysis ${id} has no metric ${unknown.join(', ')}.${hint}`)
}

/** The metrics of the last report of a run, and those that caused its verdict. */
export const metricsOfRun: ReadOperation<
  number,
  { readonly known: readonly string[]; readonly flagged: readonly string[] }
> = {
  name: 'analysis.metrics-of-run',
  apply: async ({ analysis }, id) => {
    const run = await analysis.run(id)
    if (run === undefined) throw unknownRun(id)
    const last = await analysis.interval(id, run.intervalsDone)
    if (last === undefined) return { known: [], flagged: [] }
    const { targets } = JSON.parse(last.report) as IntervalReport
    const results = targets.flatMap(({ name: target, metrics }) =>
      (metrics?.results ?? []).map(({ name, muted, classification, noData }) => ({
        name: targets.length > 1 ? `${target}: ${name}` : name,
        isFlagged:
          !muted &&
          (noData === null ? classification !== 'Pass' : ['doubtful', 'undecided'].includes(noData.state)),
      })),
    )
    return {
      known: results.map(({ name }) => name),
      flagged: results.filter(({ isFlagged }) => isFlagged).map(({ name }) => name),
    }
  },
}

interface GivenFeedback {
  readonly id: number
  readonly feedback: StoredFeedback
  readonly actor: Actor
}

/** Stores a judgement with its record in the trail. Raises `not_found` and `conflict`. */
export const saveFeedback: WriteOperation<GivenFeedback, StoredRun> = {
  name: 'analysis.save-feedback',
  apply: async ({ analysis, audit }, { id, feedback, actor }) => {
    const run = await analysis.findRun(id)
    if (run === undefined) throw unknownRun(id)
    refuseImpossible(run, feedback)
    await analysis.saveFeedback(id, feedback)
    const { judgement, metrics, comment } = feedback
    const about = { run: id, verdict: run.verdict, judgement, metrics, comment }
    await audit.append({
      ...entryOf('analysis.feedback', run.application, actor, about),
      executionId: run.executionId,
    })
    return { ...run, feedback }
  },
}

function refuseImpossible({ id, verdict, state }: StoredRun, { judgement }: StoredFeedback): void {
  const why =
    verdict === undefined || state === 'RUNNING'
      ? 'has no final verdict yet'
      : judgement === 'falseAlarm' && verdict === 'Success'
        ? 'is a success, which is no alarm'
        : judgement === 'missed' && verdict === 'Fail'
          ? 'has failed, so it missed nothing'
          : undefined
  if (why !== undefined) throw new AppError('conflict', `analysis ${id} ${why}`)
}

/** Counts the judgements about an application's last 1,000 judged runs, by metric. */
export const listPrecision: ReadOperation<string, Precision> = {
  name: 'analysis.precision',
  apply: async ({ analysis }, application) => {
    const runs = await analysis.runs({ application, hasFeedback: true, limit: MAX_RUNS })
    const given = runs.flatMap(({ feedback }) => feedback ?? [])
    const names = [...new Set(given.flatMap(({ metrics }) => metrics))].toSorted()
    const metrics = names.map((metric) => {
      const counted = countOf(given.filter((feedback) => feedback.metrics.includes(metric)))
      const alarms = counted.right + counted.falseAlarms
      return { metric, ...counted, precision: alarms === 0 ? null : counted.right / alarms }
    })
    return { application, ...countOf(given), metrics }
  },
}

function countOf(given: readonly StoredFeedback[]): Omit<MetricPrecision, 'metric' | 'precision'> {
  const of = (judgement: Judgement): number => given.filter((one) => one.judgement === judgement).length
  return { right: of('right'), falseAlarms: of('falseAlarm'), missed: of('missed') }
}
