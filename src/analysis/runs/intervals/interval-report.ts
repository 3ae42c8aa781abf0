import type { Verdict } from '../../../store/ports/analysis-store.js'
import type { JudgeReport, LogReport, ScoreThresholds } from '../../../canary/index.js'
import type { TimeWindow } from '../../sources.js'
import type { CheckReport } from '../checks/check.js'
import type { ComparedSides } from './compared-sides.js'

/** The result of one target in one interval. */
export interface TargetReport {
  readonly name: string
  readonly metrics: JudgeReport | undefined
  readonly logs: LogReport | undefined
  /** Results of rules. */
  readonly checks?: readonly CheckReport[] | undefined
}

/**
 * The judgement of one interval. It is stored and sent as JSON, so the names of its members must
 * not change.
 */
export interface IntervalReport {
  /** The number of the interval; the first is 1. */
  readonly look: number
  /** The number of intervals of the run. */
  readonly looks: number
  readonly canaryWindow: TimeWindow
  /**
   * The instances and time windows that were compared, for the first services of the run. Absent
   * from reports of earlier releases.
   */
  readonly compared?: readonly ComparedSides[] | undefined
  readonly score: number
  /** Why the score says nothing and is shown as a dash, if it does not. */
  readonly unscored?: string | undefined
  readonly verdict: Verdict
  /** The reason of the verdict, as a sentence. */
  readonly reason: string
  /** Whether later intervals cannot change the result. */
  readonly endsRun: boolean
  /** Whether it fails only because sources did not answer, so that a later interval may succeed. */
  readonly isUnanswered: boolean
  /** Problems of sources and connections, one sentence each. */
  readonly errors: readonly string[]
  readonly targets: readonly TargetReport[]
}

/** The score as people see it: a dash if it says nothing, with the reason. */
export function shownScore(
  score: number | undefined,
  report: Pick<IntervalReport, 'unscored'> | undefined,
): string {
  if (report?.unscored !== undefined) return `– (${report.unscored})`
  return score === undefined ? '–' : String(score)
}

interface Part {
  readonly what: string
  readonly score: number
  readonly unscored?: string | undefined
  readonly verdict: Verdict
  readonly reason: string
  readonly endsRun: boolean
}

const RANK: Readonly<Record<Verdict, number>> = { Fail: 0, Review: 1, Success: 2 }

/** The score and verdict of an interval: a run is as good as the worst of its parts. */
export function combineParts(
  targets: readonly TargetReport[],
  thresholds: ScoreThresholds,
): Pick<IntervalReport, 'score' | 'unscored' | 'verdict' | 'reason' | 'endsRun'> {
  const parts = targets.flatMap((target) => partsOf(target, targets.length > 1))
  const worst = parts.reduce<Part | undefined>(
    (least, part) => (least === undefined || isWorse(part, least) ? part : least),
    undefined,
  )
  if (worst === undefined) {
    const reason = 'Nothing could be judged'
    return { score: 0, unscored: 'nothing judged', verdict: 'Fail', reason, endsRun: false }
  }
  return {
    score: scoreOf(worst, thresholds),
    ...(worst.unscored !== undefined && { unscored: worst.unscored }),
    verdict: worst.verdict,
    reason: parts.length > 1 ? `${worst.what}: ${worst.reason}` : worst.reason,
    endsRun: parts.some(({ endsRun }) => endsRun),
  }
}

function partsOf({ name, metrics, logs, checks = [] }: TargetReport, isOneOfSeveral: boolean): Part[] {
  const prefix = isOneOfSeveral ? `${name} ` : ''
  const parts: Part[] = []
  if (metrics !== undefined) {
    const { score, verdict, endsRun } = metrics
    parts.push({
      what: `${prefix}metrics`,
      score: score.score,
      unscored: score.unscored,
      verdict,
      reason: score.classificationReason,
      endsRun,
    })
  }
  if (logs !== undefined) parts.push({ what: `${prefix}logs`, ...logs })
  for (const { name: check, isUnanswered, ...judged } of checks) {
    if (!isUnanswered) parts.push({ ...judged, what: `${prefix}check ${check}`, endsRun: false })
  }
  return parts
}

function isWorse(part: Part, than: Part): boolean {
  const difference = RANK[part.verdict] - RANK[than.verdict]
  return difference < 0 || (difference === 0 && part.score < than.score)
}

/**
 * Some clients read only the score, rounded to a whole number. It must not exceed the verdict: a
 * review stays one below the pass score and a failure one below the marginal score.
 */
function scoreOf({ score, verdict }: Part, { pass, marginal }: ScoreThresholds): number {
  const rounded = Math.round(score * 100) / 100
  if (verdict === 'Success') return rounded
  return Math.max(0, Math.min(rounded, Math.ceil(verdict === 'Review' ? pass : marginal) - 1))
}
