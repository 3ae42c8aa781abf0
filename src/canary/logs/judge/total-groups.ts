import { cutText } from '../../../lib/text/shown-text.js'
import type { LineSeverity, LogExposure, TemplateFinding } from '../model/types.js'
import { minRatio } from './compare-group.js'
import type { Comparison } from './compare-group.js'
import type { Episode } from './episodes.js'
import { addSide, emptySideEvents } from './side-events.js'
import type { EventGroup } from './side-events.js'
import type { WeighedComparison } from './weigh-findings.js'

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

const MAX_SHOWN = 80
/** P-value below which a change is not chance. */
const SIGNIFICANCE = 0.05

/** A comparison as the report shows it. */
export function toFinding(comparison: WeighedComparison, lostPoints: number): TemplateFinding {
  const { group, change, ratio, ratioLower, pMore, pFewer, pAdjusted, dispersion } = comparison
  const { template, topic, severity, baseline, canary } = group
  return {
    cluster: template.id,
    key: template.keys[0] ?? '',
    template: group.logger === '' ? template.text : `${group.logger}: ${template.text}`,
    severity,
    topic: topic?.string ?? null,
    change,
    asksForReview: comparison.asksForReview,
    isUnexpected: comparison.isUnexpected,
    isNewEver: comparison.isNewEver,
    baselineEvents: baseline.events,
    canaryEvents: canary.events,
    ...{ ratio, ratioLower },
    p: change === 'missing' ? pFewer : pMore,
    ...{ pAdjusted, dispersion, lostPoints },
    reason: reasonOf(comparison),
    samples: { baseline: baseline.samples, canary: canary.samples },
  }
}

function reasonOf(comparison: WeighedComparison): string {
  const { group, ratioLower, isFatal, isNewEver, isUnexpected } = comparison
  const change = `${comparison.change === 'new' ? 'new' : 'more frequent'}${amongOthers(group)}`
  const counts = `${group.canary.events} in the canary, ${group.baseline.events} in the baseline`
  const seen = isNewEver ? '. No earlier release logged it' : ''
  if (isFatal) return `Critical and ${change}: ${counts}${seen}`
  if (isUnexpected) {
    const least = ratioLower.toFixed(ratioLower < 10 ? 1 : 0)
    return `${capitalised(change)}: ${counts}${seen}. At least ${least} times as many by exposure`
  }
  if (comparison.instead !== undefined) {
    const { template, baseline } = comparison.instead.group
    return `New, and about as frequent as "${cutText(template.text, MAX_SHOWN)}", which the canary no longer logs (${baseline.events} in the baseline). Check whether it is the same message`
  }
  if (comparison.asksForReview)
    return `${capitalised(reviewText(comparison))}: ${counts}${seen}. This needs a review`
  return `${counts}. ${doubtOf(comparison)}`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function reviewText(comparison: WeighedComparison): string {
  const { change, group, isOver, episode, dispersion, isMoreInBursts } = comparison
  const isNew = change === 'new'
  const critical = group.severity === 'critical' ? 'critical and ' : ''
  if (isOver || (isNew && episode?.from === 0))
    return `${critical}${isNew ? 'new' : 'more frequent'}, but only ${whenOf(episode)}`
  if (!isNew) return isMoreInBursts ? 'more frequent by exposure, but in bursts' : 'more frequent'
  if (critical !== '') return 'critical and new'
  return dispersion > 1 ? 'new, in bursts' : 'new'
}

/** If lines with the same words have several severities, the counts cover only one of them. */
function amongOthers({ template, severity, baseline, canary }: EventGroup): string {
  const others = template.lines - baseline.events - canary.events
  return others > 0 && severity !== 'ordinary' ? ` with severity ${severity}` : ''
}

function whenOf({ from, to }: Episode = { from: 0, to: 0 }): string {
  return from === 0 ? `in the first ${to} minutes` : `from minute ${from + 1} to ${to}, and not since`
}

function doubtOf(comparison: WeighedComparison): string {
  const { change, dispersion, pAdjusted, ratioLower, group } = comparison
  if (group.severity === 'ignore') return 'A topic says to ignore it'
  if (comparison.isOver) return `More frequent only ${whenOf(comparison.episode)}, as after a start`
  if (change === 'missing') return 'The canary does not log it'
  if (change === 'fewer') return 'Fewer than expected by exposure'
  if (change === 'more' && pAdjusted < SIGNIFICANCE && ratioLower > 1) {
    const least = minRatio(group.severity)
    return `More frequent (p ${shown(pAdjusted)}), but possibly only ${ratioLower.toFixed(1)} times as often by exposure; the limit is ${least} times`
  }
  if (dispersion > 1) return `The events come in bursts and count as few (p ${shown(pAdjusted)})`
  return `The difference may be chance (p ${shown(pAdjusted)})`
}

function shown(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`
}
