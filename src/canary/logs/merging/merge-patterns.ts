import { group } from 'd3-array'

import type { Pattern } from '../model/pattern.js'
import { firstRow } from '../model/pattern.js'
import { absorbInstances } from './absorb-instances.js'
import { fillEmptyPlaces } from './fill-empty-places.js'
import { joinCrossing } from './join-crossing.js'
import { joinNamedAddresses } from './join-named-addresses.js'
import { joinPhrases } from './join-phrases.js'
import { joinSubjects } from './join-subjects.js'
import { mergeDotted } from './merge-dotted.js'
import { mergeSiblings } from './merge-siblings.js'

/**
 * Unites patterns that are one template with different values, in order of first appearance. Each
 * pass unites the patterns that the passes before it made alike.
 */
export function mergePatterns(patterns: readonly Pattern[]): readonly Pattern[] {
  const byLength = group(joinSubjects(joinNamedAddresses(patterns)), ({ words }) => words.length)
  const merged = [...byLength.values()].flatMap((alike) =>
    absorbInstances(joinCrossing(mergeSiblings(mergeDotted(alike)))),
  )
  return fillEmptyPlaces(joinPhrases(merged)).toSorted((a, b) => firstRow(a) - firstRow(b))
}
