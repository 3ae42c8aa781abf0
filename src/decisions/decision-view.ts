import { jsonOrPrefix } from '../lib/json/text/json-text.js'
import type { JsonText } from '../lib/json/text/json-text.js'
import type { StoredDecision } from '../store/ports/decision-store.js'
import type { DecisionKind, DecisionOutcome } from './decision-log.js'

/** A decision as the HTTP API shows it; what is unknown is absent. */
export interface DecisionView {
  readonly decisionId: string
  /** ISO 8601, UTC. */
  readonly time: string
  readonly kind: DecisionKind
  readonly path: string
  readonly revision: string
  readonly outcome: DecisionOutcome
  readonly application?: string
  readonly executionId?: string
  readonly caller?: string
  /** The service that decided, in a log that several share. */
  readonly replica?: string
  readonly durationMs: number
  readonly requestId?: string
  /** The input as JSON when all of it was stored; else `inputPrefix` holds the text that was. */
  readonly input?: JsonText
  readonly inputPrefix?: string
  /** Size of the input as it was sent. */
  readonly inputBytes?: number
  readonly inputTruncated?: boolean
  readonly result?: JsonText
  readonly resultPrefix?: string
  /** What built-ins gave that might give something else another time, by built-in and arguments, as OPA's `nd_builtin_cache`. */
  readonly ndBuiltinCache?: JsonText
  /** Which packages deny, and what each says. */
  readonly packages?: JsonText
  readonly error?: string
}

/** Turns a stored decision into its public form. */
export function toDecisionView(decision: StoredDecision): DecisionView {
  const {
    application,
    executionId,
    caller,
    requestId,
    input,
    inputBytes,
    result,
    error,
    replica,
    ndBuiltinCache,
    packages,
  } = decision
  return {
    decisionId: decision.decisionId,
    time: new Date(decision.timeMs).toISOString(),
    kind: decision.kind,
    path: decision.path,
    revision: decision.revision,
    outcome: decision.outcome,
    ...(application !== null && { application }),
    ...(executionId !== null && { executionId }),
    ...(caller !== null && { caller }),
    ...(replica !== undefined && { replica }),
    durationMs: decision.durationNs / 1e6,
    ...(requestId !== null && { requestId }),
    ...(input !== null && jsonOrPrefix('input', input, decision.inputTruncated)),
    ...(inputBytes !== null && { inputBytes, inputTruncated: decision.inputTruncated }),
    ...(result !== null && jsonOrPrefix('result', result, decision.resultTruncated)),
    ...(ndBuiltinCache !== null && jsonOrPrefix('ndBuiltinCache', ndBuiltinCache, false)),
    ...(packages !== null && jsonOrPrefix('packages', packages, false)),
    ...(error !== null && { error }),
  }
}
