import type { CheckData } from '../checks/check.js'
import type { TargetInstances } from './choose-instances.js'
import type { NamedSpread } from './usual-spreads.js'
import { redactWords } from '../../../lib/redaction/redact-text.js'
import type { Sequence } from '../../../lib/packing/packed-list.js'
import type { AnswerState, LineData, LinesAnswer, SeriesAnswer } from '../../sources.js'

/** The reason for not judging a query that is the same on both sides. */
export const SAME_ON_BOTH_SIDES =
  'both sides have the same query, so the canary would be compared with itself: use a scope value in the query that distinguishes the sides'

/** A series as it was fetched. */
export interface SeriesData {
  readonly state: AnswerState
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
  readonly query: string
  readonly startMs: number
  readonly stepMs: number
  /** How many of the gaps had infinite values. */
  readonly infinitePoints?: number | undefined
  /** null is a gap. */
  readonly values: readonly (number | null)[]
  /** One series for each instance (pod or host), if there are several. */
  readonly units?: readonly (readonly (number | null)[])[] | undefined
  /** Whether `units` are earlier times of the baseline, of which `values` has every other point. */
  readonly areTimes?: true | undefined
}

/** Both sides of a metric, at its place in the plan. */
export interface MetricData {
  readonly baseline: SeriesData
  readonly canary: SeriesData
  /** The exposure of the values, if the metric has a query for it. */
  readonly exposure?: { readonly baseline: SeriesData; readonly canary: SeriesData } | undefined
  /**
   * Whether both sides sent the same query for the same time: the canary would be compared with
   * itself.
   */
  readonly isSameOnBothSides?: boolean | undefined
}

/** Lines as they were fetched. */
export interface LinesData {
  readonly state: AnswerState
  readonly reasons: readonly string[]
  readonly query: string
  readonly startMs: number
  /** Lines are there up to here. */
  readonly coveredUntilMs: number
  readonly isTruncated: boolean
  readonly lines: Sequence<LineData>
}

/** Both sides of a log. Without a baseline the canary is judged alone. */
export interface LogData {
  readonly baseline: LinesData | undefined
  readonly canary: LinesData
}

/** The fetched data of a target in one interval, in the order of the plan. */
export interface TargetData {
  readonly metrics: readonly MetricData[] | undefined
  readonly logs: LogData | undefined
  readonly checks?: readonly CheckData[] | undefined
  /** The compared instances, if the definition has them chosen. */
  readonly instances?: TargetInstances | undefined
}

/**
 * The input of the judgement of an interval: the same data give the same report. Stored as JSON,
 * like the report.
 */
export interface IntervalData {
  /** The number of the interval. */
  readonly look: number
  /** The interval that was judged before it, if that is not the preceding one. */
  readonly after?: number | undefined
  readonly targets: readonly TargetData[]
  readonly seenLogTemplates: readonly string[]
  /** The usual distance between both sides in former runs. Absent if not known. */
  readonly usualSpreads?: readonly NamedSpread[] | undefined
}

export function toSeriesData(answer: SeriesAnswer): SeriesData {
  const { state, reasons, warnings, query, startMs, stepMs, values, truncatedPoints } = answer
  const cut = truncatedPoints === 0 ? [] : [`a limit left out the last ${truncatedPoints} points`]
  return {
    ...{ state, query: redactWords(query), startMs, stepMs },
    reasons: [...reasons.map(redactWords), ...cut],
    warnings: warnings.map(redactWords),
    ...(answer.infinitePoints !== undefined && { infinitePoints: answer.infinitePoints }),
    values: pointsOf(values),
    ...(answer.units !== undefined && { units: answer.units.map(pointsOf) }),
  }
}

/**
 * One baseline of several times, of which at least the first was fetched. They take turns in
 * `values`. Times without any value are left out with a warning, since a service may be younger.
 */
export function joinTimes(times: readonly SeriesData[]): SeriesData {
  const known = times.filter(({ values }) => values.some((value) => value !== null))
  const [first, second] = known
  const [latest] = times
  if (latest === undefined) throw new Error('a baseline has at least one time')
  const failed = times.filter(({ state }) => state === 'failed')
  const lost = times.length - known.length
  if (first === undefined) return latest
  const units = known.map(({ values }) => values)
  return {
    ...first,
    // Values of an earlier time are shown at the place of the latest one.
    startMs: latest.startMs,
    ...(failed.length > 0 && { state: 'incomplete' as const }),
    reasons: [...new Set(times.flatMap(({ reasons }) => reasons))],
    warnings: [
      ...new Set(times.flatMap(({ warnings }) => warnings)),
      ...(lost > 0 ? [`${lost} of ${times.length} times of the baseline have no values`] : []),
    ],
    ...(second === undefined
      ? {}
      : {
          // All times take turns, so that exposures of other lengths do the same.
          values: first.values.map((_, place) => times[place % times.length]?.values[place] ?? null),
          ...{ units, areTimes: true as const },
        }),
  }
}

function pointsOf(values: Float64Array): (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null))
}

export function toLinesData(answer: LinesAnswer, startMs: number): LinesData {
  const { state, reasons, query, coveredUntilMs, isTruncated, lines } = answer
  return {
    ...{ state, startMs, coveredUntilMs, isTruncated },
    query: redactWords(query),
    reasons: reasons.map(redactWords),
    lines,
  }
}
