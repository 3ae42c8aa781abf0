import { percent } from '../../../lib/text/number-text.js'
import type { MetricSpec } from '../series/types.js'
import type { NoData } from './find-no-data.js'
import { baselineLevel } from './samples/baseline-level.js'
import { endOf } from './samples/clean-side.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { farFrom, marginsOf } from './samples/margins.js'
import { harmfulSigns } from './samples/metric-tests.js'
import type { CleanSides } from './samples/metric-tests.js'
import type { RobustSettings } from './samples/settings.js'
import { pointsOf, whenOf } from './samples/when.js'

const LENGTH_SHARE = 1 / 3
/** Minimum number of points of a stretch. */
const MIN_POINTS = 10
/** Minimum distance from the baseline's furthest stretch, in the range of its stretches. */
const MIN_RANGES = 2
/** Number of starts tried within the length of a stretch. */
const STARTS = 20
/** One or two points far out are a note, so the ends of a stretch do not count. */
const LEFT_OUT = 2
/** A start of this share may be a warm-up. */
const WARM_UP_SHARE = 0.2

/**
 * A third of the canary's window that is further from the baseline than twice the range of the
 * baseline's own thirds, and far past the margin. It makes no assumption about the
 * distribution or the dependence in time: values of two kinds and periodic ones hide such a change
 * from ranks. Thirds are compared by their means without the two
 * largest and the two smallest values, of logarithms if all values are positive.
 * Undefined without one.
 */
export function farStretchOf(
  spec: MetricSpec,
  sides: CleanSides,
  settings: RobustSettings,
): NoData | undefined {
  const { control, experiment } = sides
  const points = Math.max(endOf(control), endOf(experiment))
  const length = Math.floor(LENGTH_SHARE * Math.min(control.values.length, experiment.values.length))
  if (length < MIN_POINTS || kindOfValues(sides, spec.kind) !== 'gauge') return undefined
  const level = baselineLevel(control.sorted)
  const margins = marginsOf(spec, settings)
  const isPositive = Math.min(control.sorted[0] ?? 0, experiment.sorted[0] ?? 0) > 0
  const [before, now] = [control, experiment].map(({ values }) => stretchMeans(values, length, isPositive))
  if (before === undefined || now === undefined) return undefined
  const means = before.map(({ mean }) => mean)
  const [low, high] = [Math.min(...means), Math.max(...means)]
  const late = now.filter(({ from }) => (experiment.places[from] ?? 0) >= WARM_UP_SHARE * points)
  for (const sign of harmfulSigns(spec.direction)) {
    const end = sign > 0 ? high : low
    const distanceOf = ({ mean }: Stretch): number => sign * (mean - end)
    const furthest = late.reduce<Stretch | undefined>(
      (best, one) => (best === undefined || distanceOf(one) > distanceOf(best) ? one : best),
      undefined,
    )
    if (furthest === undefined) continue
    const { from } = furthest
    const distance = distanceOf(furthest)
    const margin = (sign > 0 ? margins.increase : margins.decrease) * level
    if (distance <= MIN_RANGES * (high - low) || distance < farFrom(margin, level)) continue
    const places = [from, from + length - 1].map((index) => experiment.places[index] ?? 0)
    const [start = 0, last = 0] = places
    const when = whenOf(experiment, pointsOf(experiment, start, last + 1), last + 1 >= points)
    const by = level > 0 ? ` by ${percent(distance / level)} of the baseline` : ''
    const reason = `From ${when} the canary is ${sign > 0 ? 'above' : 'below'} each stretch of its baseline as long as that${by}. Check this stretch`
    return { state: 'doubtful', reason }
  }
  return undefined
}

interface Stretch {
  /** The index of its first value. */
  readonly from: number
  readonly mean: number
}

/** The means of stretches of `length` values without their ends; geometric means of positive values. */
function stretchMeans(values: Float64Array, length: number, isPositive: boolean): readonly Stretch[] {
  const scaled = isPositive ? values.map(Math.log) : values
  const stretches: Stretch[] = []
  const step = Math.ceil(length / STARTS)
  // From the end, which is what a change lasts to.
  for (let from = values.length - length; from >= 0; from -= step) {
    const kept = scaled
      .slice(from, from + length)
      .sort()
      .subarray(LEFT_OUT, length - LEFT_OUT)
    const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
    stretches.push({ from, mean: isPositive ? Math.exp(mean) : mean })
  }
  return stretches
}
