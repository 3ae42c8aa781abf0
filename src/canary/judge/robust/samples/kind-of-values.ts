import type { MetricKind } from '../../series/types.js'
import type { CleanSide } from './clean-side.js'
import type { CleanSides } from './metric-tests.js'

/**
 * Minimum share of zeros from which a side is compared by how often it is not 0 rather than by
 * size.
 */
const MOSTLY_ZERO = 0.5

/** How values are tested: as measurements, as values that are mostly 0, or as events counted. */
export function kindOfValues(
  { control, experiment }: CleanSides,
  kind: MetricKind,
): 'gauge' | 'zeroInflated' | 'count' {
  if (kind !== 'auto') return kind
  if (control.hasExposure && experiment.hasExposure) return 'count'
  if (!isMostlyZero(control) && !isMostlyZero(experiment)) return 'gauge'
  return isCounted(control) && isCounted(experiment) ? 'count' : 'zeroInflated'
}

/** Whether over half of a side's values are 0. */
export function isMostlyZero({ values }: CleanSide): boolean {
  return values.reduce((zeros, value) => zeros + (value === 0 ? 1 : 0), 0) > MOSTLY_ZERO * values.length
}

function isCounted({ values }: CleanSide): boolean {
  return values.every((value) => value >= 0 && Number.isInteger(value))
}
