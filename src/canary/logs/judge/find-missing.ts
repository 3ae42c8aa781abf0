import { benjaminiHochberg } from '../../statistics/benjamini-hochberg.js'
import type { TemplateFinding } from '../model/types.js'
import type { Comparison } from './compare-group.js'
import { toFinding } from './to-finding.js'

/** Only information, so that it has to be surer than what costs points. */
const FALSE_DISCOVERIES = 0.01
const MAX_MISSING = 50

/** Templates that the canary lacks though its exposure should have brought them: work that is no longer done. */
export function findMissing(comparisons: readonly Comparison[]): readonly TemplateFinding[] {
  const candidates = comparisons.filter(
    ({ change, group }) => change === 'missing' && group.severity !== 'ignore',
  )
  const adjusted = benjaminiHochberg(candidates.map(({ pFewer }) => pFewer))
  return candidates
    .map((comparison, place) => ({ ...comparison, pAdjusted: adjusted[place] ?? 1 }))
    .filter(({ pAdjusted }) => pAdjusted < FALSE_DISCOVERIES)
    .toSorted((a, b) => a.pFewer - b.pFewer)
    .slice(0, MAX_MISSING)
    .map((missing) =>
      toFinding(
        {
          ...{ ...missing, isNewEver: false, asksForReview: false },
          ...{ isUnexpected: false, isFatal: false, isOver: false, loss: 0 },
        },
        0,
      ),
    )
}
