import { countedOutOf, type MetricSeries, type MetricSpec, type Side } from '../../../canary/index.js'
import type { PlannedMetric } from '../definitions/plan.js'
import { SAME_ON_BOTH_SIDES } from './interval-data.js'
import type { MetricData, SeriesData } from './interval-data.js'
import type { NamedSpread } from './usual-spreads.js'

/** The series of the metrics of a target, with their exposure, as the judge reads them. */
export function judgedSeries(
  metrics: readonly PlannedMetric[],
  data: readonly MetricData[],
  spreads: readonly NamedSpread[] = [],
): readonly MetricSeries[] {
  return metrics.map(({ spec, query }, index) => {
    const exposure = exposureOf(spec, index, metrics, data)
    const side = (name: 'baseline' | 'canary'): Side => {
      const values = toSide(data[index]?.[name])
      if (exposure === undefined) return values
      // Events of several times are counted out of theirs, point by point.
      const counted = values.areTimes === true ? { ...values, units: undefined, areTimes: undefined } : values
      return countedOutOf(counted, toSide(exposure[name]))
    }
    const control = side('baseline')
    const experiment = withInfiniteValues(side('canary'), data[index], exposure)
    // Pods vary otherwise than times do.
    const pods = control.areTimes === true ? { units: undefined } : {}
    const error = data[index]?.isSameOnBothSides ? SAME_ON_BOTH_SIDES : experiment.error
    const stepMs = data[index]?.canary.stepMs
    const overlap = stepMs === undefined ? undefined : windowInSteps(query, stepMs)
    const usualSpread = spreads.find(({ metric }) => metric === spec.name)
    return { spec, overlap, usualSpread, control, experiment: { ...experiment, ...pods, error } }
  })
}

/** The exposure of a metric's events: the data of another metric, or of its own query for it. */
function exposureOf(
  { exposure }: MetricSpec,
  index: number,
  metrics: readonly PlannedMetric[],
  data: readonly MetricData[],
): Partial<MetricData> | undefined {
  if (exposure === undefined) return data[index]?.exposure
  return data[metrics.findIndex(({ spec }) => spec.name === exposure)] ?? {}
}

function toSide(series: SeriesData | undefined): Side {
  if (series === undefined) return { values: new Float64Array(), error: 'nothing was fetched' }
  const { state, reasons, startMs, stepMs, values, units, areTimes } = series
  const points = (given: SeriesData['values']): Float64Array =>
    Float64Array.from(given, (value) => value ?? Number.NaN)
  return {
    values: points(values),
    ...(units !== undefined && { units: units.map(points), areTimes }),
    error: state === 'failed' ? reasons.join('; ') : undefined,
    ...{ startMs, stepMs },
  }
}

type BothSides = Partial<Pick<MetricData, 'baseline' | 'canary'>>

/**
 * The side of the canary, marked as not judgeable if it has the larger share of infinite values.
 * These are gaps, so the rest could pass although the canary is at its worst there.
 */
function withInfiniteValues(canary: Side, ...series: readonly (BothSides | undefined)[]): Side {
  const worse = series.find((sides) => shareOf(sides?.canary) > shareOf(sides?.baseline))
  if (worse === undefined) return canary
  const { infinitePoints = 0, values = [] } = worse.canary ?? {}
  const outOfRange = `${infinitePoints} of ${values.length} values of the canary are infinite, a larger share than in the baseline. They cannot be judged`
  return { ...canary, outOfRange }
}

function shareOf(series: MetricData['canary'] | undefined): number {
  return series?.infinitePoints === undefined ? 0 : series.infinitePoints / Math.max(1, series.values.length)
}

const RANGE = /\[\s*((?:\d+(?:ms|[smhdwy]))+)\s*(?::[^\]]*)?\]/g
const PART = /(\d+)(ms|[smhdwy])/g
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 },
}
/** Strings, which are not code. */
const STRING = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/g

/**
 * The number of steps in the longest range of a query in PromQL or LogQL: 5 for `rate(x[5m])` at a
 * minute. Undefined without a range.
 */
export function windowInSteps(query: string, stepMs: number): number | undefined {
  const ranges = [...query.replace(STRING, '').matchAll(RANGE)].map(([, text = '']) =>
    [...text.matchAll(PART)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0),
      0,
    ),
  )
  return ranges.length === 0 ? undefined : Math.max(1, Math.round(Math.max(...ranges) / stepMs))
}
