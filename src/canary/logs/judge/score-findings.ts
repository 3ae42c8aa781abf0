import type { Sensitivity } from '../model/log-template.js'
import type { WeighedComparison } from './weigh-findings.js'

/** How fast the score falls with the sum of losses. */
const STEEPNESS: Readonly<Record<Sensitivity, number>> = { high: 0.35, medium: 0.2, low: 0.1 }

/** The score, and how much of what it lacks each finding took. */
export interface LogScore {
  readonly score: number
  readonly lostPoints: ReadonlyMap<WeighedComparison, number>
}

/** 100 exp(-k sum of losses), or 0 where one finding fails the run alone (analysis.md 3.4). */
export function scoreFindings(findings: readonly WeighedComparison[], sensitivity: Sensitivity): LogScore {
  const fatal = findings.filter(({ isFatal }) => isFatal)
  if (fatal.length > 0) return { score: 0, lostPoints: new Map(fatal.map((of) => [of, 100 / fatal.length])) }
  const total = findings.reduce((sum, { loss }) => sum + loss, 0)
  const score = 100 * Math.exp(-STEEPNESS[sensitivity] * total)
  const costly = findings.filter(({ loss }) => loss > 0)
  return { score, lostPoints: new Map(costly.map((of) => [of, ((100 - score) * of.loss) / total])) }
}
