import type { Side } from '../judge/types.js'
import type { MetricData } from './look-data.js'

type BothSides = Partial<Pick<MetricData, 'baseline' | 'canary'>>

/**
 * The side of the canary, not to be judged where it has the larger share of infinite values: they are gaps, so that what is left could pass
 * though the canary is at its worst just there.
 */
export function withInfiniteValues(canary: Side, ...series: readonly (BothSides | undefined)[]): Side {
  const worse = series.find((sides) => shareOf(sides?.canary) > shareOf(sides?.baseline))
  if (worse === undefined) return canary
  const { infinitePoints = 0, values = [] } = worse.canary ?? {}
  const outOfRange = `${infinitePoints} of ${values.length} values of the canary are infinite, a larger share than of the baseline's: they cannot be judged`
  return { ...canary, outOfRange }
}

function shareOf(series: MetricData['canary'] | undefined): number {
  return series?.infinitePoints === undefined ? 0 : series.infinitePoints / Math.max(1, series.values.length)
}
