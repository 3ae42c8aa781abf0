import type { NewCallOptions } from '../../pdp/evaluation/new-call.js'
import { evaluateWithAnswers } from '../../pdp/requests/evaluate-with-answers.js'
import { PolicyRequests } from '../../pdp/requests/policy-requests.js'
import type { RequestSettings } from '../../pdp/requests/request-settings.js'
import type { EvaluationCall } from '../../pdp/wasm/evaluation-call.js'

/** Evaluates with what policies ask of others, as far as the settings let them. Raises as `evaluateWithAnswers`. */
export async function evaluateOnce<A>(
  evaluate: (call: EvaluationCall) => A,
  settings: RequestSettings,
  options: Pick<NewCallOptions, 'strictBuiltinErrors' | 'cost'> = {},
): Promise<A> {
  const requests = new PolicyRequests(settings)
  try {
    return await evaluateWithAnswers(evaluate, requests, options)
  } finally {
    await requests.close()
  }
}
