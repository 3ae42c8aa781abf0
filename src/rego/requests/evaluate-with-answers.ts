import { newCall } from '../evaluation/new-call.js'
import type { NewCallOptions } from '../evaluation/new-call.js'
import { AnswerMissing } from '../evaluation/answer-missing.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { PolicyRequests } from './policy-requests.js'

const NEVER = new AbortController().signal

/**
 * Evaluates, and repeats the evaluation with answers of other hosts until none is missing. Raises
 * as the evaluation and `DecisionRequests.answer`. For programs with one decision at a time.
 */
export async function evaluateWithAnswers<A>(
  evaluate: (call: EvaluationCall) => A,
  requests: Pick<PolicyRequests, 'begin'>,
  { nowMs = Date.now(), recorded: known, ...options }: Omit<NewCallOptions, 'allowsRequests'> = {},
): Promise<A> {
  const decision = requests.begin(nowMs, NEVER)
  try {
    for (let recorded = known; ;) {
      options.cost?.clear()
      try {
        return evaluate(newCall({ ...options, nowMs, recorded, allowsRequests: true }))
      } catch (raw) {
        if (!(raw instanceof AnswerMissing)) throw raw
        await decision.answer(raw.call, raw.recorded)
        recorded = raw.recorded
      }
    }
  } finally {
    decision.end()
  }
}
