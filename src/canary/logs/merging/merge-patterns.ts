import { group } from 'd3-array'

import type { Pattern } from '../model/pattern.js'
import { firstRow } from '../model/pattern.js'
import { absorbInstances } from './absorb-instances.js'
import { absorbOdd } from './absorb-odd.js'
import type { LinesOf } from './absorb-odd.js'
import { dropRemarks } from './drop-remarks.js'
import { fillEmptyFields, fillEmptyPlaces } from './fill-empty-places.js'
import { joinCrossing } from './join-crossing.js'
import { joinGluedValues } from './join-glued-values.js'
import { joinNamedAddresses } from './join-named-addresses.js'
import { joinNames } from './join-names.js'
import { joinPhrases } from './join-phrases.js'
import { joinSubjects } from './join-subjects.js'
import { mergeDotted } from './merge-dotted.js'
import { mergeFrequent } from './merge-frequent.js'
import { mergeSiblings } from './merge-siblings.js'

/** Unites patterns that are one template with different values, in order of first appearance. */
export function mergePatterns(patterns: readonly Pattern[], linesOf: LinesOf): readonly Pattern[] {
  const byLength = group(
    joinSubjects(joinNamedAddresses(fillEmptyFields(patterns))),
    ({ words }) => words.length,
  )
  const merged = [...byLength.values()].flatMap(mergeAlike)
  const filled = fillEmptyPlaces(dropRemarks(joinGluedValues(joinNames(joinPhrases(merged)))))
  return absorbOdd(filled, linesOf).toSorted((a, b) => firstRow(a) - firstRow(b))
}

/** Each step finds what the one before it made alike. */
function mergeAlike(patterns: readonly Pattern[]): readonly Pattern[] {
  return absorbInstances(
    joinCrossing(mergeDotted(mergeSiblings(mergeFrequent(mergeSiblings(mergeDotted(patterns)))))),
  )
}
