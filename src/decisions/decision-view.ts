import { JsonText } from '../lib/json/json-text.js'
import { refuseMalformed } from '../lib/json/refuse-malformed.js'
import type { StoredDecision } from '../store/decision-store.js'
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
  readonly durationMs: number
  readonly requestId?: string
  /** The input as JSON when all of it was kept; else `inputPrefix` holds the text that was. */
  readonly input?: JsonText
  readonly inputPrefix?: string
  /** Size of the input as it was sent. */
  readonly inputBytes?: number
  readonly inputTruncated?: boolean
  readonly result?: JsonText
  readonly resultPrefix?: string
  readonly error?: string
}

/** Turns a stored decision into its public form. */
export function toDecisionView(decision: StoredDecision): DecisionView {
  const { application, executionId, caller, requestId, inputBytes, error } = decision
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
    durationMs: decision.durationNs / 1e6,
    ...(requestId !== null && { requestId }),
    ...toJsonView('input', decision.input, decision.inputTruncated),
    ...(inputBytes !== null && { inputBytes, inputTruncated: decision.inputTruncated }),
    ...toJsonView('result', decision.result, decision.resultTruncated),
    ...(error !== null && { error }),
  }
}

function toJsonView(name: 'input' | 'result', bytes: Uint8Array | null, truncated: boolean): object {
  if (bytes === null) return {}
  // Streaming: a character cut in two at the end is left out instead of shown as U+FFFD.
  const text = new TextDecoder().decode(bytes, { stream: true })
  if (truncated) return { [`${name}Prefix`]: text }
  try {
    refuseMalformed(bytes)
    return { [name]: new JsonText(text) }
  } catch {
    return { [`${name}Prefix`]: text }
  }
}
