import type { LogExposure } from '../model/types.js'
import type { Comparison } from './compare-group.js'
import type { EventGroup } from './event-group.js'
import type { WeighedComparison } from './weigh-findings.js'

/** Of the words of both, for two messages to be one in other words. */
const LEAST_ALIKE = 0.5
const MOST_TIMES = 2
const HARM: Readonly<Record<string, number>> = { critical: 3, error: 2, warn: 1 }

/**
 * Takes what is new for people to look at instead where the canary no longer logs something as bad, in similar words and about as often: a message that was
 * reworded, an exception that is thrown in a function of another name, a warning that became an error. Each of what is gone stands for one.
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
  return times < MOST_TIMES && times > 1 / MOST_TIMES
}

/** Whether a message may be another one in other words, and is no worse; the same words with a higher severity are. */
function isSame(gone: EventGroup, come: EventGroup): boolean {
  const isHarm = (HARM[gone.severity] ?? 0) > 0
  if (isHarm && gone.template.id === come.template.id) return true
  if ((HARM[gone.severity] ?? 0) < (HARM[come.severity] ?? 0)) return false
  const [one, two] = [wordsOf(gone), wordsOf(come)]
  const shared = [...one].filter((word) => two.has(word)).length
  return shared >= LEAST_ALIKE * Math.max(one.size, two.size) || isThrownElsewhere(gone, come)
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
