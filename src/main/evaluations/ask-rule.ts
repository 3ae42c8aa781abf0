import type { EvaluateRule } from '../../analysis/runs/checks/check.js'
import type { DecisionLog } from '../../decisions/decision-log.js'
import { toAppError } from '../../errors/app-error.js'
import { makeTimeOrderedIds } from '../../lib/time-ordered-id.js'
import type { Evaluations, Policies } from '../../rego/index.js'
import { recordEvaluation } from './record-evaluation.js'

const CALLER = 'analysis'

/** Evaluates the rules of checks of analyses as verdicts. A rule that is not defined is a problem, too. */
export function makeAskRule(
  policies: Policies,
  evaluations: Evaluations,
  { log, now }: { readonly log: DecisionLog; readonly now: () => number },
): EvaluateRule {
  const nextDecisionId = makeTimeOrderedIds()
  return async (rule, value) => {
    const nowMs = now()
    const input = Buffer.from(JSON.stringify(value))
    try {
      const text = await recordEvaluation(policies, log, {
        ...{ kind: 'data', path: rule, caller: CALLER, decisionId: nextDecisionId(nowMs), input, nowMs },
        evaluate: (plan) => evaluations.document(plan, input, { nowMs, caller: CALLER, isVerdict: true }),
        told: (answer) =>
          answer === undefined
            ? { outcome: 'undefined' }
            : { outcome: 'defined', result: Buffer.from(answer) },
      })
      if (text !== undefined) return { value: JSON.parse(text) as unknown }
      return {
        problem:
          'is not defined: it is misspelt, not loaded, or has no value for this document (give it a default)',
      }
    } catch (raw) {
      return { problem: `could not be evaluated: ${toAppError(raw).message}` }
    }
  }
}
