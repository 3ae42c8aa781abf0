import { short } from '../../../lib/text/figures.js'
import { endOf } from './samples/clean-side.js'
import type { CleanSides } from './samples/metric-tests.js'

/** This many points at the end with one value, and this share of all, are no chance where values change from point to point. */
const STUCK_POINTS = 10
const STUCK_SHARE = 0.2
/** So often the baseline's values change meanwhile. */
const CHANGING_SHARE = 0.9

/**
 * The stretch at the end in which the canary has one value while its baseline changes from point to point, as a sentence: what is
 * measured no more keeps its last value. Undefined where there is none, or where the baseline has no such value: a change is that.
 */
export function stuckOf({ control, experiment }: CleanSides): string | undefined {
  const { values, places } = experiment
  const last = values.at(-1)
  const before = values.findLastIndex((value) => value !== last)
  const points = values.length - 1 - before
  // A fall to 0 is told as such.
  if (last === 0 || last === undefined || points < Math.max(STUCK_POINTS, STUCK_SHARE * endOf(experiment)))
    return undefined
  const { sorted } = control
  if (last < (sorted[0] ?? last) || last > (sorted.at(-1) ?? last)) return undefined
  const meanwhile = control.values.filter((_, at) => (control.places[at] ?? 0) >= (places[before + 1] ?? 0))
  const changes = meanwhile.filter((value, at) => at > 0 && value !== meanwhile[at - 1]).length
  if (meanwhile.length < STUCK_POINTS || changes < CHANGING_SHARE * (meanwhile.length - 1)) return undefined
  return `the canary's last ${points} points all have the value ${short(last)}, where the baseline changes: see whether it is still measured`
}
