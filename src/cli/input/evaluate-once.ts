import type { Config } from '../../config/config.js'
import { openRequests } from '../../main/evaluations/open-requests.js'
import {
  evaluateWithAnswers,
  replayCalls,
  type EvaluationCall,
  type NewCallOptions,
  type PolicyRequests,
} from '../../rego/index.js'
import type { Terminal } from '../session/terminal.js'

type CallSettings = Pick<NewCallOptions, 'strictBuiltinErrors' | 'isVerdict' | 'cost' | 'print' | 'tracer'>

/**
 * Runs `work` with the outgoing requests that the configuration allows. Raises the errors of
 * `work`.
 */
export async function withRequests<A>(
  config: Config,
  terminal: Terminal,
  work: (requests: PolicyRequests) => Promise<A>,
): Promise<A> {
  const requests = openRequests(config, terminal.env)
  try {
    return await work(requests)
  } finally {
    await requests.close()
  }
}

/**
 * Evaluates with the recorded calls of a decision (JSON) instead of sending requests. Raises the
 * errors of `evaluateWithAnswers`.
 */
export async function replayDecision<A>(
  evaluate: (call: EvaluationCall) => A,
  ndBuiltinCache: Uint8Array,
  requests: PolicyRequests,
  options: CallSettings,
): Promise<A> {
  const kept = replayCalls(Buffer.from(ndBuiltinCache).toString(), requests)
  const { recorded, nowMs = Date.now() } = kept
  return await evaluateWithAnswers(evaluate, kept.requests, { ...options, recorded, nowMs })
}
