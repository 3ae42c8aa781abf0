import type { MetricSpec, Side } from '../../../canary/index.js'

/** The changes that a backtest makes to the canary: the factor of each by its name. */
export const CHANGES = { 'x1.5': 1.5, x2: 2, x5: 5, halved: 0.5 } as const
export type ChangeName = keyof typeof CHANGES
export const CHANGE_NAMES = Object.keys(CHANGES) as readonly ChangeName[]

/**
 * Whether a factor is harm for a metric. `bound` is the largest possible value if the distance from
 * it is compared, to which the factor then applies.
 */
export function isHarm(factor: number, { direction }: MetricSpec, bound: number | undefined): boolean {
  if (direction === 'either') return true
  const isRise = factor > 1 === (bound === undefined)
  return isRise === (direction === 'increase')
}

/**
 * A side whose values, or their distance from `bound`, are multiplied by a factor. Whole numbers
 * stay whole: each rounding carries its remainder to the next value. Undefined if nothing changes,
 * as for a side of zeros.
 */
export function changedSide(side: Side, factor: number, bound: number | undefined): Side | undefined {
  const change = (values: Float64Array): Float64Array => {
    const isWhole =
      bound === undefined && values.every((value) => Number.isNaN(value) || Number.isInteger(value))
    let carried = 0
    return values.map((value) => {
      if (bound !== undefined) return bound - factor * (bound - value)
      if (!isWhole || Number.isNaN(value)) return factor * value
      const exact = factor * value + carried
      carried = exact - Math.round(exact)
      // Without a sign for 0.
      return Math.round(exact) + 0
    })
  }
  const values = change(side.values)
  const isOther = values.some((value, place) => !Number.isNaN(value) && value !== side.values[place])
  return isOther ? { ...side, values, ...(side.units && { units: side.units.map(change) }) } : undefined
}
