import { percent, short } from '../../../../lib/text/figures.js'
import type { MetricSpec, TestOutcome } from '../../series/types.js'
import { baselineLevel } from '../samples/baseline-level.js'
import { marginsOf } from '../samples/margins.js'
import { harmfulSigns, weighted } from '../samples/metric-tests.js'
import type { CleanSides } from '../samples/metric-tests.js'
import type { RobustSettings } from '../samples/settings.js'
import { furthestStretches } from './stretch-test.js'

/** What the search for stretches may err by, as a share of the metric's error, all directions together. */
const SHARE = 0.1
/** A stretch is shorter than the window, and was searched for: it matters from so many margins on. */
const LEAST_MARGINS = 2

/** No cache is so cold for so long: a start of so many points, so many times as far from 0 as the baseline, is for people to see; errors at a start are sooner. */
export const PLAIN_START = { points: 5, change: 4 }
const PLAIN_START_OF_EVENTS = { points: 4, change: 2 }

/**
 * Stretches of the canary that are away from its baseline, one for each direction that harms. Where events are counted by the points
 * that have some, several in a row may be one event: then a stretch proves nothing, and neither before the last interval.
 */
export function stretchOutcomes(
  sides: CleanSides,
  spec: MetricSpec,
  settings: RobustSettings,
  proves: boolean,
  scoredBy = sides,
): TestOutcome[] {
  const level = baselineLevel(sides.control.sorted)
  const margins = marginsOf(spec, settings)
  const signs = harmfulSigns(spec.direction).filter((sign) => proves || sign > 0)
  return furthestStretches(sides, signs, scoredBy).map(({ sign, from, to, isLast, isWarmUp, change, p }) => {
    const margin = sign > 0 ? margins.increase : margins.decrease
    const plain = proves ? PLAIN_START : PLAIN_START_OF_EVENTS
    const isStart = isWarmUp && (to < plain.points || change < plain.change * level)
    const advice = from === 0 && !isLast ? ': warmUpMinutes leaves a start out' : ''
    const where = isLast ? `point ${from + 1} to the end` : `point ${from + 1} to ${to}`
    const isLarge = change > LEAST_MARGINS * margin * level
    const away = level > 0 ? `${percent((sign * change) / level)} of the baseline` : short(sign * change)
    return {
      test: 'stretch',
      change: sign > 0 ? 'High' : 'Low',
      // A start that differs is what warm-ups are.
      p: proves && settings.later === undefined && from > 0 ? weighted(p, SHARE / signs.length) : 1,
      pAlone: Math.min(1, p * signs.length),
      matters: isLarge && !isStart,
      ...(isLarge && isStart && { isWarmUp }),
      size: level > 0 ? change / level : null,
      says: `from ${where} the canary is away from its baseline, the typical value there by ${away}${advice}`,
    }
  })
}
