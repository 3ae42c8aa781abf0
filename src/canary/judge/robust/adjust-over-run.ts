import { benjaminiHochberg, holm } from '../../statistics/benjamini-hochberg.js'
import type { Adjusted, Assessment } from './assessment.js'

/**
 * The p-values of a run's metrics, each adjusted for those that it is among: critical metrics by Holm, so that one of them
 * alone fails a run in few runs only and ordinary ones beside them do not hide it; the others by Benjamini and Hochberg. What
 * scores nothing (muted metrics) and what could not be tested takes nothing from the others.
 */
export function adjustOverRun(assessments: readonly Assessment[]): Adjusted[] {
  const adjusted = assessments.map(({ p }) => p)
  const families = [
    { adjust: holm, isMember: ({ muted, critical }: Assessment['spec']) => !muted && critical },
    { adjust: benjaminiHochberg, isMember: ({ muted, critical }: Assessment['spec']) => !muted && !critical },
    { adjust: benjaminiHochberg, isMember: ({ muted }: Assessment['spec']) => muted },
  ]
  for (const { adjust, isMember } of families) {
    const members = [...assessments.entries()].filter(([, { spec, isTested }]) => isTested && isMember(spec))
    const values = adjust(members.map(([, { p }]) => p))
    members.forEach(([index], place) => (adjusted[index] = values[place] ?? 1))
  }
  const counting = [...assessments.entries()].filter(([, { spec, isTested }]) => isTested && !spec.muted)
  const familyWise = new Map(
    holm(counting.map(([, { p }]) => p)).map((value, place) => [counting[place]?.[0], value]),
  )
  return adjusted.map((p, index) => ({ p, familyWise: familyWise.get(index) ?? 1 }))
}
