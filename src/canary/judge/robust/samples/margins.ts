import type { MetricSpec } from '../../series/types.js'
import type { RobustSettings } from './settings.js'

/** The changes that do not matter, as shares of the baseline or in the metric's unit. */
export interface Margins {
  readonly increase: number
  readonly decrease: number
}

/**
 * Margins of a metric: explicit ones first, then Kayenta's effect size beyond its neutral value,
 * then those of the run.
 */
export function marginsOf(spec: MetricSpec, { margin }: Pick<RobustSettings, 'margin'>): Margins {
  const { measure, allowedIncrease, allowedDecrease } = spec.effectSize
  const usual = spec.margin ?? margin
  if (spec.margin !== undefined || measure === 'cles') return { increase: usual, decrease: usual }
  return {
    increase: allowedIncrease > 1 ? allowedIncrease - 1 : usual,
    decrease: allowedDecrease < 1 ? 1 - allowedDecrease : usual,
  }
}
