import { cutText } from '../../../lib/text/shown-text.js'
import type { TemplateFinding } from '../model/types.js'
import type { EventGroup } from './side-events.js'
import type { Episode } from './episodes.js'
import { minRatio } from './compare-group.js'
import type { WeighedComparison } from './weigh-findings.js'

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
