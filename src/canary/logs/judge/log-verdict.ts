import type { ScoreThresholds } from '../../judge/series/types.js'
import type { EmptyLogPolicy, LogReport, LogState, TemplateFinding } from '../model/types.js'
import type { Sensitivity } from '../model/log-template.js'
import type { WeighedComparison } from './weigh-findings.js'

interface LogVerdictInput {
  readonly state: LogState
  readonly score: number
  /** Most costly first. */
  readonly findings: readonly TemplateFinding[]
  readonly thresholds: ScoreThresholds
  readonly emptyLog: EmptyLogPolicy
  /**
   * A reason for a review whatever the score is; see `silenceOf`, `vanishedOf` and
   * `compareRequests`.
   */
  readonly doubt: string | undefined
  /** Whether the doubt fails the run. */
  readonly doubtFails: boolean
}

type LogVerdict = Pick<LogReport, 'score' | 'verdict' | 'reason' | 'endsRun'>

const MAX_SHOWN = 120
/** How near below the passing score a review is put, and a failure below the marginal one. */
const JUST_BELOW = 0.01
const WITHOUT_LINES: Readonly<Partial<Record<LogState, string>>> = {
  canaryEmpty: 'The canary logged nothing',
  bothEmpty: 'Neither the baseline nor the canary logged anything',
  baselineEmpty: 'The baseline logged nothing to compare with',
}

/** The verdict on the log and its reason. */
export function logVerdict(input: LogVerdictInput): LogVerdict {
  const { state, score, findings, thresholds } = input
  const unexpected = findings.filter(({ isUnexpected }) => isUnexpected)
  const [worst] = unexpected
  const reason = worst === undefined ? reasonOfSuccess(findings) : sentence(worst, unexpected.length)
  if (worst !== undefined && score === 0) return { score, verdict: 'Fail', reason, endsRun: true }
  const empty = WITHOUT_LINES[state]
  if (empty !== undefined) return withoutLines(empty, input)
  if (state === 'noBaseline' && worst !== undefined) {
    // A finding without a counterpart may be old, so it needs a review.
    const reviewed = Math.max(thresholds.marginal, score)
    return {
      score: belowPass(reviewed, thresholds),
      verdict: 'Review',
      reason: `Without a baseline: ${reason}`,
      endsRun: false,
    }
  }
  const verdict = verdictOf(score, thresholds)
  const reviewed = findings.find(({ asksForReview }) => asksForReview)
  const doubt = input.doubt ?? (reviewed && sentence(reviewed, 1))
  if (doubt === undefined || (verdict === 'Fail' && !input.doubtFails))
    return { score, verdict, reason, endsRun: false }
  const isSaid = worst === undefined || (input.doubt === undefined && reviewed === worst)
  const reasons = isSaid ? doubt : `${doubt}. ${reason}`
  if (input.doubtFails) {
    const below = Math.min(score, Math.max(0, thresholds.marginal - JUST_BELOW))
    return { score: below, verdict: 'Fail', reason: reasons, endsRun: false }
  }
  return { score: belowPass(score, thresholds), verdict: 'Review', reason: reasons, endsRun: false }
}

/** Errors that are new or seem more frequent, but too few to count, are mentioned. */
function reasonOfSuccess(findings: readonly TemplateFinding[]): string {
  const errors = findings.filter(({ severity }) => severity === 'error' || severity === 'critical')
  const fresh = errors.filter(({ change, canaryEvents }) => change === 'new' && canaryEvents > 0)
  const [first] = fresh
  if (first !== undefined) return `Too few new errors to need a review: ${sentence(first, fresh.length)}`
  return errors.some(({ ratio }) => ratio !== null && ratio > 1)
    ? 'No error is new, and none is proven to be more frequent'
    : 'No error is new or more frequent'
}

function withoutLines(reason: string, { thresholds, emptyLog }: LogVerdictInput): LogVerdict {
  switch (emptyLog) {
    case 'fail':
      return { score: 0, verdict: 'Fail', reason, endsRun: false }
    case 'review':
      return { score: belowPass(thresholds.marginal, thresholds), verdict: 'Review', reason, endsRun: false }
    case 'ignore':
      return { score: 100, verdict: 'Success', reason: `${reason}. This is ignored`, endsRun: false }
  }
}

/**
 * A review always has a score below the passing one, so that clients that read only the score do
 * not treat it as a success.
 */
function belowPass(score: number, { pass }: ScoreThresholds): number {
  return Math.min(score, Math.max(0, pass - JUST_BELOW))
}

function verdictOf(score: number, { pass, marginal }: ScoreThresholds): LogVerdict['verdict'] {
  if (score >= pass) return 'Success'
  return score >= marginal ? 'Review' : 'Fail'
}

function sentence({ template, reason }: TemplateFinding, count: number): string {
  const shown = template.length > MAX_SHOWN ? `${template.slice(0, MAX_SHOWN)}…` : template
  const others = count > 1 ? ` (and ${count - 1} more)` : ''
  return `"${shown}": ${reason}${others}`
}

/** How fast the score falls with the sum of losses. */
const STEEPNESS: Readonly<Record<Sensitivity, number>> = { high: 0.35, medium: 0.2, low: 0.1 }

/** The score, and the points that each finding took from it. */
interface LogScore {
  readonly score: number
  readonly lostPoints: ReadonlyMap<WeighedComparison, number>
}

/** 100 exp(-k sum of losses), or 0 if one finding fails the run alone (analysis.md 3.4). */
export function scoreFindings(findings: readonly WeighedComparison[], sensitivity: Sensitivity): LogScore {
  const fatal = findings.filter(({ isFatal }) => isFatal)
  if (fatal.length > 0) return { score: 0, lostPoints: new Map(fatal.map((of) => [of, 100 / fatal.length])) }
  const total = findings.reduce((sum, { loss }) => sum + loss, 0)
  const score = 100 * Math.exp(-STEEPNESS[sensitivity] * total)
  const costly = findings.filter(({ loss }) => loss > 0)
  return { score, lostPoints: new Map(costly.map((of) => [of, ((100 - score) * of.loss) / total])) }
}
