import type { ScoreThresholds } from '../../../canary/index.js'
import type { CheckData, CheckReport } from './check.js'

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
