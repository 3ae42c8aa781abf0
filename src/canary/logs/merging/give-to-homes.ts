import { coverage, firstRow } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

/** The pattern that is to cover another one too; undefined where there is none. It must not be one of those that were given away. */
export type FindHome = (pattern: Pattern, given: ReadonlySet<Pattern>) => Pattern | undefined

/** Gives each pattern to its home, unless its words are fixed or it is a home itself. Those that are left keep their order. */
export function giveToHomes(patterns: readonly Pattern[], findHome: FindHome): readonly Pattern[] {
  const taken = new Map<Pattern, Pattern[]>()
  const given = new Set<Pattern>()
  for (const pattern of patterns) {
    const home = pattern.isFixed || taken.has(pattern) ? undefined : findHome(pattern, given)
    if (home === undefined) continue
    given.add(pattern)
    const guests = taken.get(home)
    if (guests === undefined) taken.set(home, [pattern])
    else guests.push(pattern)
  }
  return patterns
    .filter((pattern) => !given.has(pattern))
    .map((pattern) => {
      const guests = taken.get(pattern)
      if (guests === undefined) return pattern
      const ordered = [pattern, ...guests].toSorted((a, b) => firstRow(a) - firstRow(b))
      return { ...pattern, ...coverage(ordered) }
    })
}
