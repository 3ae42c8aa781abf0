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

/** A change exactly at the margin does not matter, despite rounding or a change of unit. */
export const ROUNDING = 1 + 1e-9

/** Minimum size of a change far past its margin, in margins and as a share of the level. */
const FAR_MARGINS = 4
const FAR_SHARE = 0.2

/** The least change that is far past its margin. Margin and result are in the unit of the level. */
export function farFrom(margin: number, level: number): number {
  return Math.max(FAR_MARGINS * margin, FAR_SHARE * level)
}
