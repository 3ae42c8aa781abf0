import type { LineSeverity, LogExposure } from '../model/types.js'
import type { EventGroup } from './side-events.js'
import { addSide, emptySideEvents } from './side-events.js'
import type { WeighedComparison } from './weigh-findings.js'
import type { Comparison } from './compare-group.js'

/** The names and members of the totals of each severity. */
const TOTALS: readonly {
  readonly severity: LineSeverity
  readonly text: string
  readonly of: readonly LineSeverity[]
}[] = [
  { severity: 'error', text: '<all errors together>', of: ['error', 'critical'] },
  { severity: 'warn', text: '<all warnings together>', of: ['warn'] },
]
/** A total of one kind is that kind. */
const MIN_KINDS = 2
/** Share of the growth explained by single kinds from which the total adds nothing. */
const REPORTED_SHARE = 0.5

/** All events of a severity as one group: messages that never repeat are too few of each kind. */
export function totalGroups(groups: readonly EventGroup[]): readonly EventGroup[] {
  return TOTALS.flatMap(({ severity, text, of }) => {
    const members = groups.filter((group) => of.includes(group.severity))
    if (members.length < MIN_KINDS) return []
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

/** The totals that are not explained by kinds that cost points or are reported anyway. */
export function unexplainedTotals(
  totals: readonly WeighedComparison[],
  kinds: readonly WeighedComparison[],
  odds: number,
): readonly WeighedComparison[] {
  const growth = ({ group }: WeighedComparison): number => group.canary.events - group.baseline.events * odds
  return totals.filter((total) => {
    const of = TOTALS.find(({ severity }) => severity === total.group.severity)?.of ?? []
    const reported = kinds.filter(
      ({ group, isUnexpected, isOver, instead }) =>
        (isUnexpected || isOver || instead !== undefined) && of.includes(group.severity),
    )
    return reported.reduce((sum, kind) => sum + growth(kind), 0) < REPORTED_SHARE * growth(total)
  })
}

/** Minimum share of common words for two messages to be variants of each other. */
const MIN_ALIKE = 0.5
const MAX_TIMES = 2
const HARM: Readonly<Record<string, number>> = { critical: 3, error: 2, warn: 1 }

/**
 * Marks new findings for review if the canary no longer logs something as severe, in similar words
 * and about as often: a reworded message, an exception thrown in another function, a warning that
 * became an error. Each missing group explains one new group.
 */
export function withRenamed(
  findings: readonly WeighedComparison[],
  { canaryShare }: Pick<LogExposure, 'canaryShare'>,
): readonly WeighedComparison[] {
  const gone = new Set(findings.filter(({ change }) => change === 'missing'))
  if (gone.size === 0) return findings
  const odds = canaryShare / (1 - canaryShare)
  return findings.map((finding) => {
    const { group, change, isUnexpected } = finding
    if (!isUnexpected || change !== 'new' || group.topic?.isOwn === true) return finding
    const instead = [...gone].find((one) => isAsOften(one, group, odds) && isSame(one.group, group))
    if (instead === undefined) return finding
    gone.delete(instead)
    return { ...finding, instead, asksForReview: true, isUnexpected: false, isFatal: false, loss: 0 }
  })
}

function isAsOften({ group: { baseline } }: Comparison, { canary }: EventGroup, odds: number): boolean {
  const times = canary.events / (baseline.events * odds)
  return times < MAX_TIMES && times > 1 / MAX_TIMES
}

/**
 * Whether a message may be a reworded other one and is not worse. The same words with a higher
 * severity also count.
 */
function isSame(gone: EventGroup, come: EventGroup): boolean {
  const isHarm = (HARM[gone.severity] ?? 0) > 0
  if (isHarm && gone.template.id === come.template.id) return true
  if ((HARM[gone.severity] ?? 0) < (HARM[come.severity] ?? 0)) return false
  const [one, two] = [wordsOf(gone), wordsOf(come)]
  const shared = [...one].filter((word) => two.has(word)).length
  return shared >= MIN_ALIKE * Math.max(one.size, two.size) || isThrownElsewhere(gone, come)
}

/** Two traces of one type of exception. */
function isThrownElsewhere(gone: EventGroup, come: EventGroup): boolean {
  const [one, two] = [gone, come].map(({ template }) => TRACE.exec(template.text)?.[1])
  return one !== undefined && one === two
}

const TRACE = /^([\w.$:\\]*(?:Exception|Error|Throwable|Warning|Interrupt|Exit|Fault|panic)) at \S/

function wordsOf({ template }: EventGroup): ReadonlySet<string> {
  return new Set(template.text.toLowerCase().match(/\p{L}{2,}/gu))
}
