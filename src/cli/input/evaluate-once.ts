import type { NewCallOptions } from '../../pdp/evaluation/new-call.js'
import { evaluateWithAnswers } from '../../pdp/requests/evaluate-with-answers.js'
import { replayCalls } from '../../pdp/requests/replayed-calls.js'
import { PolicyRequests } from '../../pdp/requests/policy-requests.js'
import type { RequestSettings } from '../../pdp/requests/request-settings.js'
import type { EvaluationCall } from '../../pdp/wasm/evaluation-call.js'

type CallSettings = Pick<NewCallOptions, 'strictBuiltinErrors' | 'cost' | 'print'>

/** Evaluates with what policies ask of others, as far as the settings let them. Raises as `evaluateWithAnswers`. */
export async function evaluateOnce<A>(
  evaluate: (call: EvaluationCall) => A,
  settings: RequestSettings,
  options: CallSettings = {},
): Promise<A> {
  const requests = new PolicyRequests(settings)
  try {
    return await evaluateWithAnswers(evaluate, requests, options)
  } finally {
    await requests.close()
  }
}

/** Evaluates with what calls gave when a decision was made, as the decision log has it (JSON), and asks nobody. Raises as `evaluateOnce`. */
export async function evaluateAgain<A>(
  evaluate: (call: EvaluationCall) => A,
  ndBuiltinCache: Uint8Array,
  options: CallSettings,
): Promise<A> {
  const { requests, recorded, nowMs = Date.now() } = replayCalls(Buffer.from(ndBuiltinCache).toString())
  return await evaluateWithAnswers(evaluate, requests, { ...options, recorded, nowMs })
}
