import type { Verdict } from '../../../store/ports/analysis-store.js'
import type { ScoreThresholds } from '../../../canary/index.js'

/** What a rule said: its value as JSON has it, or why it has none, as the end of a sentence. */
export type RuleAnswer = { readonly value: unknown } | { readonly problem: string }

/** Asks a rule of the policies that serve, by its path: `shop/budget/kept`. Never rejects. */
export type EvaluateRule = (rule: string, input: object) => Promise<RuleAnswer>

/** Where no policies serve. */
export const NO_RULES: EvaluateRule = () => Promise.resolve({ problem: 'cannot be asked: there are no policies' })

/** A check as it was asked in one interval; it is stored, so that it can be judged again. */
export interface CheckData {
  readonly name: string
  readonly rule: string
  /** As they were sent. */
  readonly queries: { readonly baseline: string; readonly canary: string }
  /** What the rule said; undefined where there is a problem. */
  readonly value?: boolean | number | undefined
  /** Why nothing can be said, as a sentence. */
  readonly problem?: string | undefined
}

/** A check as it is reported. */
export interface CheckReport {
  readonly name: string
  readonly rule: string
  readonly verdict: Verdict
  readonly score: number
  readonly reason: string
  /** Whether nothing is known of it, so that a later interval may do better. */
  readonly isUnanswered: boolean
}

/** What a check comes to: true and false are 100 and 0. One that could not be asked fails. */
export function judgeCheck(
  { name, rule, value, problem }: CheckData,
  { pass, marginal }: ScoreThresholds,
): CheckReport {
  if (value === undefined) {
    return { name, rule, verdict: 'Fail', score: 0, reason: problem ?? 'not asked', isUnanswered: true }
  }
  const reason = `the rule ${rule} says ${value}`
  if (typeof value === 'boolean') {
    const verdict = value ? 'Success' : 'Fail'
    return { name, rule, reason, verdict, score: value ? 100 : 0, isUnanswered: false }
  }
  const verdict = value >= pass ? 'Success' : value >= marginal ? 'Review' : 'Fail'
  return { name, rule, reason: `${reason} of 100`, verdict, score: value, isUnanswered: false }
}
