import type { DecisionLog } from '../../decisions/decision-log.js'
import { AppError, toAppError } from '../../errors/app-error.js'
import { makeTimeOrderedIds } from '../../lib/time-ordered-id.js'
import { planDocument } from '../../pdp/evaluation/evaluate-document.js'
import { findApplication } from '../../pdp/evaluation/find-application.js'
import type { Policies } from '../../pdp/loading/policies.js'
import { parseDataPath } from '../../pdp/rego/data-path.js'
import type { Evaluations } from '../../pdp/slow/evaluations.js'

const NS_PER_MS = 1_000_000
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
    const startedAt = performance.now()
    const snapshot = policies.current
    const input = Buffer.from(JSON.stringify(value))
    const made = await attempt(() =>
      evaluations.runtime(planDocument(snapshot, parseDataPath(policy)), input, { nowMs, caller: CALLER }),
    )
    log.record({
      decisionId: nextDecisionId(nowMs),
      timeMs: nowMs,
      kind: 'runtime',
      path: policy,
      revision: snapshot.revision,
      outcome: made instanceof AppError ? 'error' : made.length > 0 ? 'deny' : 'allow',
      application: findApplication(input),
      caller: CALLER,
      durationNs: Math.round((performance.now() - startedAt) * NS_PER_MS),
      input,
      ...(made instanceof AppError ? { error: made.message } : { result: Buffer.from(JSON.stringify(made)) }),
    })
    if (made instanceof AppError) throw made
    return made
  }
}

async function attempt(
  evaluate: () => readonly string[] | Promise<readonly string[]>,
): Promise<readonly string[] | AppError> {
  try {
    return await evaluate()
  } catch (raw) {
    return toAppError(raw)
  }
}
