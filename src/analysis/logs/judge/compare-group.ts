import { binomialLowerTail, binomialUpperTail, clopperPearson } from '../../statistics/binomial.js'
import type { LineSeverity, LogExposure, LogSide, TemplateChange } from '../model/types.js'
import type { EventGroup } from './event-group.js'
import { dispersionOf } from './dispersion.js'

/** What the counts of one group say. */
export interface Comparison {
  readonly group: EventGroup
  readonly change: TemplateChange
  readonly ratio: number | null
  readonly ratioLower: number
  /** Of as many events on the canary, or more. */
  readonly pMore: number
  /** Of as few events on the canary, or fewer. */
  readonly pFewer: number
  readonly dispersion: number
}

const CONFIDENCE = 0.95
const SURE = 0.05

/**
 * Compares the events of a group by exposure: given all events of a group, those of the canary are binomial with the
 * canary's share of the exposure when both sides are alike. Events in bursts count as fewer.
 */
export function compareGroup(
  group: EventGroup,
  { canaryShare }: LogExposure,
  baseline: LogSide,
  canary: LogSide,
): Comparison {
  const dispersion = dispersionOf([
    { side: group.baseline, startMs: baseline.startMs, endMs: baseline.endMs },
    { side: group.canary, startMs: canary.startMs, endMs: canary.endMs },
  ])
  const before = group.baseline.events / dispersion
  const now = group.canary.events / dispersion
  const odds = (1 - canaryShare) / canaryShare
  const { lower } = clopperPearson(now, now + before, CONFIDENCE)
  const pMore = binomialUpperTail(now, now + before, canaryShare)
  const pFewer = binomialLowerTail(now, now + before, canaryShare)
  return {
    group,
    change: changeOf(group, pMore, pFewer),
    ratio: before === 0 ? null : (now / before) * odds,
    ratioLower: (lower / (1 - lower)) * odds,
    ...{ pMore, pFewer, dispersion },
  }
}

function changeOf({ baseline, canary }: EventGroup, pMore: number, pFewer: number): TemplateChange {
  if (baseline.events === 0) return 'new'
  if (canary.events === 0) return 'missing'
  if (pMore < SURE) return 'more'
  return pFewer < SURE ? 'fewer' : 'same'
}

/** From which ratio on more events matter: what is only a warning must grow more. */
export function leastRatio(severity: LineSeverity): number {
  return severity === 'error' || severity === 'critical' ? 1.5 : 2
}
