import { jsonOrPrefix } from '../lib/json/text/json-text.js'
import type { JsonText } from '../lib/json/text/json-text.js'
import type { StoredDecision } from '../store/ports/decision-store.js'
import type { DecisionKind, DecisionOutcome } from './decision-log.js'

/** A decision in the HTTP API. Members whose value is unknown are omitted. */
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
  /** The service that decided, in a shared log. */
  readonly replica?: string
  readonly durationMs: number
  readonly requestId?: string
  /** Trace of the request (W3C Trace Context), 32 hex digits. */
  readonly traceId?: string
  /** The input as JSON if it was stored completely, else `inputPrefix` with the stored text. */
  readonly input?: JsonText
  readonly inputPrefix?: string
  /** Size of the input as sent. */
  readonly inputBytes?: number
  readonly inputTruncated?: boolean
  readonly result?: JsonText
  readonly resultPrefix?: string
  /**
   * Results of non-deterministic built-ins by built-in and arguments, as OPA's `nd_builtin_cache`.
   */
  readonly ndBuiltinCache?: JsonText
  /** Packages that deny or warn, and their messages. */
  readonly packages?: JsonText
  readonly error?: string
}

/** Maps a stored decision to its form in the API. */
export function toDecisionView(decision: StoredDecision): DecisionView {
  const {
    application,
    executionId,
    caller,
    requestId,
    traceId,
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
    ...(traceId !== null && { traceId }),
    ...(input !== null && jsonOrPrefix('input', input, decision.inputTruncated)),
    ...(inputBytes !== null && { inputBytes, inputTruncated: decision.inputTruncated }),
    ...(result !== null && jsonOrPrefix('result', result, decision.resultTruncated)),
    ...(ndBuiltinCache !== null && jsonOrPrefix('ndBuiltinCache', ndBuiltinCache, false)),
    ...(packages !== null && jsonOrPrefix('packages', packages, false)),
    ...(error !== null && { error }),
  }
}
