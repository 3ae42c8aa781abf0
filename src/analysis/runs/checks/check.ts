import type { Verdict } from '../../../store/ports/analysis-store.js'
import type { ScoreThresholds } from '../../../canary/index.js'

/** The result of a rule: its value as JSON, or a problem as the end of a sentence. */
export type RuleAnswer = { readonly value: unknown } | { readonly problem: string }

/** Evaluates a rule of the serving policies by its path: `shop/budget/kept`. Never rejects. */
export type EvaluateRule = (rule: string, input: object) => Promise<RuleAnswer>

/** The evaluator without policies. */
export const NO_RULES: EvaluateRule = () =>
  Promise.resolve({ problem: 'cannot be evaluated: there are no policies' })

/** A check of one interval. It is stored, so that it can be judged again. */
export interface CheckData {
  readonly name: string
  readonly rule: string
  /** As they were sent. */
  readonly queries: { readonly baseline: string; readonly canary: string }
  /** The value of the rule; undefined if there is a problem. */
  readonly value?: boolean | number | undefined
  /** The problem, as a sentence. */
  readonly problem?: string | undefined
}

/** The result of a check in a report. */
export interface CheckReport {
  readonly name: string
  readonly rule: string
  readonly verdict: Verdict
  readonly score: number
  readonly reason: string
  /** Whether nothing is known of it, so that a later interval may do better. */
  readonly isUnanswered: boolean
}

/** Judges a check: true and false are 100 and 0. A check without a value fails. */
export function judgeCheck(
  { name, rule, value, problem }: CheckData,
  { pass, marginal }: ScoreThresholds,
): CheckReport {
  if (value === undefined) {
    return {
      name,
      rule,
      verdict: 'Fail',
      score: 0,
      reason: problem ?? 'The rule was not evaluated',
      isUnanswered: true,
    }
  }
  const reason = `The rule ${rule} is ${value}`
  if (typeof value === 'boolean') {
    const verdict = value ? 'Success' : 'Fail'
    return { name, rule, reason, verdict, score: value ? 100 : 0, isUnanswered: false }
  }
  const verdict = value >= pass ? 'Success' : value >= marginal ? 'Review' : 'Fail'
  return { name, rule, reason: `${reason} of 100`, verdict, score: value, isUnanswered: false }
}
