import { group } from 'd3-array'

import type { LineSeverity } from '../model/types.js'
import type { EventGroup } from './event-group.js'
import { addSide } from './side-events.js'

/** One message has few loggers; where it seems to have more, they are values. */
const MOST_LOGGERS = 50

/**
 * Unites what only the baseline's loggers say with what only the canary's say, where it is the same message with the same topic: a logger
 * that has another name, or none, is no new error. A logger of the canary that says it beside one that says it on both sides is.
 */
export function uniteRenamed(groups: readonly EventGroup[]): readonly EventGroup[] {
  const messages = group(withoutDemoted(groups), ({ template, topic }) =>
    JSON.stringify([template.id, topic?.string]),
  )
  return [...messages.values()].flatMap((family) => {
    if (family.length === 1) return family
    if (family.length > MOST_LOGGERS) return joined(family)
    const gone = family.filter(({ canary }) => canary.events === 0)
    const come = family.filter(({ baseline }) => baseline.events === 0)
    if (gone.length === 0 || come.length === 0) return family
    const both = family.filter((one) => !gone.includes(one) && !come.includes(one))
    return [...both, ...joined([...gone, ...come])]
  })
}

const RANKS: readonly LineSeverity[] = ['critical', 'error', 'warn']

/** What the baseline logs only as an error and the canary only as a warning is the same message, and none that is new. */
function withoutDemoted(groups: readonly EventGroup[]): readonly EventGroup[] {
  const families = group(groups, ({ template, logger }) => JSON.stringify([template.id, logger])).values()
  return [...families].flatMap((family) => {
    const [one, two] = family.toSorted((a, b) => RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity))
    if (family.length !== 2 || one === undefined || two === undefined) return family
    const isDemoted = one.severity !== two.severity && one.canary.events === 0 && two.baseline.events === 0
    return isDemoted && family.every(({ severity }) => RANKS.includes(severity)) ? joined([two, one]) : family
  })
}

function joined(family: readonly EventGroup[]): EventGroup[] {
  const [first, ...others] = family
  if (first === undefined) return []
  for (const { baseline, canary } of others) {
    addSide(first.baseline, baseline)
    addSide(first.canary, canary)
  }
  return [first]
}
