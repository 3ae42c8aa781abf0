import type { DecisionLog } from '../../decisions/decision-log.js'
import { makeTimeOrderedIds } from '../../lib/time-ordered-id.js'
import { denialsByPackage, textsOf, type Evaluations, type Policies } from '../../rego/index.js'
import { recordEvaluation } from '../evaluations/record-evaluation.js'

const CALLER = 'gates'

/** Asks a policy about a gate instance at a time: the reasons against it. Raises where it cannot be evaluated. */
export type AskGatePolicy = (policy: string, input: object, nowMs: number) => Promise<readonly string[]>

/** Asks the policies that serve now; each decision is recorded like one that was asked for over HTTP. */
export function makeAskGatePolicy(
  policies: Policies,
  evaluations: Evaluations,
  log: DecisionLog,
): AskGatePolicy {
  const nextDecisionId = makeTimeOrderedIds()
  return async (policy, value, nowMs) => {
    const input = Buffer.from(JSON.stringify(value))
    const denials = await recordEvaluation(policies, log, {
      ...{ kind: 'runtime', path: policy, caller: CALLER, decisionId: nextDecisionId(nowMs), input, nowMs },
      evaluate: (plan) => evaluations.runtime(plan, input, { nowMs, caller: CALLER }),
      told: (found) => ({
        outcome: found.length > 0 ? 'deny' : 'allow',
        result: Buffer.from(JSON.stringify(textsOf(found))),
        ...(found.length > 0 && { packages: Buffer.from(JSON.stringify(denialsByPackage(found))) }),
      }),
    })
    return textsOf(denials)
  }
}
