import type { LineSeverity } from '../model/types.js'
import type { EventGroup } from './event-group.js'
import { addSide, emptySideEvents } from './side-events.js'
import type { WeighedComparison } from './weigh-findings.js'

/** What one severity's events are called together. */
const TOTALS: readonly {
  readonly severity: LineSeverity
  readonly text: string
  readonly of: readonly LineSeverity[]
}[] = [
  { severity: 'error', text: '<all errors together>', of: ['error', 'critical'] },
  { severity: 'warn', text: '<all warnings together>', of: ['warn'] },
]
/** A total of one kind is that kind. */
const LEAST_KINDS = 2
/** So much of the growth is told by its kinds, for the total to say nothing more. */
const TOLD_SHARE = 0.5

/** All events of a severity as one group: texts that never repeat are too few of a kind each. */
export function totalGroups(groups: readonly EventGroup[]): readonly EventGroup[] {
  return TOTALS.flatMap(({ severity, text, of }) => {
    const members = groups.filter((group) => of.includes(group.severity))
    if (members.length < LEAST_KINDS) return []
    const [baseline, canary] = [emptySideEvents(), emptySideEvents()]
    for (const member of members) {
      addSide(baseline, member.baseline)
      addSide(canary, member.canary)
    }
    const lines = members.reduce((sum, { template }) => sum + template.lines, 0)
    const template = { id: 0, text, lines, keys: [] }
    return [{ template, topic: undefined, logger: '', severity, baseline, canary }]
  })
}

/** The totals that say more than the kinds that cost points already, or that people are told of. */
export function untoldTotals(
  totals: readonly WeighedComparison[],
  kinds: readonly WeighedComparison[],
  odds: number,
): readonly WeighedComparison[] {
  const growth = ({ group }: WeighedComparison): number => group.canary.events - group.baseline.events * odds
  return totals.filter((total) => {
    const of = TOTALS.find(({ severity }) => severity === total.group.severity)?.of ?? []
    const told = kinds.filter(
      ({ group, isUnexpected, isOver, instead }) =>
        (isUnexpected || isOver || instead !== undefined) && of.includes(group.severity),
    )
    return told.reduce((sum, kind) => sum + growth(kind), 0) < TOLD_SHARE * growth(total)
  })
}
