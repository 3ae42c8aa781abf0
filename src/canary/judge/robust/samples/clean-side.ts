import { outlierFences } from '../../../statistics/quantile.js'
import type { MetricSpec, Side } from '../../series/types.js'
import { centredScores } from './autocorrelation.js'
import type { CentredSeries } from './autocorrelation.js'

/** Where the places of a side are in its series and in time. */
export interface Clock {
  /** Points of the series for each place: more than 1 if overlapping windows were thinned. */
  readonly pointsPerPlace: number
  /** The point of the first place. */
  readonly firstPoint: number
  readonly startMs: number | undefined
  readonly stepMs: number | undefined
}

/** The points of a side without gaps: their values, and their places in time. */
export interface CleanSide {
  readonly values: Float64Array
  readonly places: Int32Array
  /** The exposure of each value; 1 if none is given. */
  readonly exposure: Float64Array
  readonly hasExposure: boolean
  /** The values in ascending order. */
  readonly sorted: Float64Array
  /** The values' normal scores. */
  readonly scores: CentredSeries
  /** Where its places are in time; those of a series without times if absent. */
  readonly clock?: Clock | undefined
}

/**
 * Drops gaps or sets them to 0, and drops outliers if configured. A point without exposure is a
 * gap.
 */
export function cleanSide(side: Side, { nanStrategy, outliers }: MetricSpec): CleanSide {
  const { values, exposure } = side
  const isPoint = (value: number, place: number): boolean =>
    (nanStrategy === 'replace' || !Number.isNaN(value)) &&
    (exposure === undefined || (exposure[place] ?? 0) > 0)
  const valueAt = (place: number): number => {
    const value = values[place] ?? 0
    return Number.isNaN(value) ? 0 : value
  }
  let kept = new Int32Array(values.length).map((_, place) => place)
  kept = kept.filter((place) => isPoint(values[place] ?? 0, place))
  if (outliers.strategy === 'remove' && kept.length > 0) {
    const { low, high } = outlierFences(gather(kept, valueAt).sort(), outliers.factor)
    kept = kept.filter((place) => valueAt(place) >= low && valueAt(place) <= high)
  }
  return cleanPoints({
    values: gather(kept, valueAt),
    places: kept,
    exposure: gather(kept, (place) => exposure?.[place] ?? 1),
    hasExposure: exposure !== undefined,
    clock: { pointsPerPlace: 1, firstPoint: 0, startMs: side.startMs, stepMs: side.stepMs },
  })
}

/** The place after the last point. */
export function endOf({ places }: Pick<CleanSide, 'places'>): number {
  return (places.at(-1) ?? -1) + 1
}

/** Points with their order and scores. */
export function cleanPoints(points: Omit<CleanSide, 'sorted' | 'scores'>): CleanSide {
  const sorted = points.values.toSorted()
  return { ...points, sorted, scores: centredScores(points.values, points.places, sorted) }
}

/** Written as a loop: making a typed array from another with a function takes ten times as long. */
function gather(places: Int32Array, valueAt: (place: number) => number): Float64Array {
  const gathered = new Float64Array(places.length)
  places.forEach((place, index) => {
    gathered[index] = valueAt(place)
  })
  return gathered
}
