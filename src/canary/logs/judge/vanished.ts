import type { LogExposure } from '../model/types.js'
import type { Comparison } from './compare-group.js'

/** So much of the ordinary lines of the baseline must be gone, for people to look whether the canary still does its work. */
const LEAST_SHARE = 0.2
const MOST_REPLACED = 0.5
const SURE = 1e-6
const MAX_SHOWN = 80
/** From here on an ordinary line that comes so many times as often is told of. */
const MUCH_MORE = 10
const LEAST_EVENTS = 100
const MOST_TOLD = 3

/**
 * What the baseline logs all the time and the canary never does, with little or nothing in its place, as a sentence: work that it is not given, or does no
 * more. Undefined where less than a fifth of the lines is gone, or other ordinary lines came instead.
 */
export function vanishedOf(comparisons: readonly Comparison[], exposure: LogExposure): string | undefined {
  const ordinary = comparisons.filter(({ group }) => group.severity === 'ordinary')
  const all = sum(ordinary, 'baseline')
  const gone = ordinary
    .filter(({ change, pFewer }) => change === 'missing' && pFewer < SURE)
    .toSorted((a, b) => b.group.baseline.events - a.group.baseline.events)
  const missing = sum(gone, 'baseline')
  const odds = exposure.canaryShare / (1 - exposure.canaryShare)
  const instead = sum(
    ordinary.filter(({ change }) => change === 'new'),
    'canary',
  )
  const [first] = gone
  if (first === undefined || missing < all * LEAST_SHARE || instead > missing * odds * MOST_REPLACED)
    return undefined
  const others = gone.length > 1 ? ` and ${gone.length - 1} more kinds` : ''
  return `the canary logs nothing like ${shown(first)}${others}, ${Math.round((missing / all) * 100)} % of the ordinary lines of the baseline (${missing}), and ${instead > 0 ? 'little' : 'nothing'} instead: see whether it does the same work`
}

/** Ordinary lines that came much more often, as sentences: they cost nothing, but a storm of them is seldom meant. */
export function stormsOf(comparisons: readonly Comparison[]): readonly string[] {
  return comparisons
    .filter(({ group, ratioLower, change }) => {
      const isMuchMore = ratioLower > MUCH_MORE && change === 'more'
      return isMuchMore && group.severity === 'ordinary' && group.canary.events >= LEAST_EVENTS
    })
    .toSorted((a, b) => b.ratioLower - a.ratioLower)
    .slice(0, MOST_TOLD)
    .map(
      (storm) =>
        `the canary logs ${shown(storm)} at least ${Math.floor(storm.ratioLower)} times as often by exposure: ${storm.group.canary.events}, ${storm.group.baseline.events} in the baseline`,
    )
}

function sum(comparisons: readonly Comparison[], side: 'baseline' | 'canary'): number {
  return comparisons.reduce((all, { group }) => all + group[side].events, 0)
}

function shown({ group }: Comparison): string {
  const { text } = group.template
  return `"${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}"`
}
