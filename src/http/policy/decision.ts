import type { DecisionKind, DecisionOutcome } from '../../decisions/decision-log.js'
import type { AppError } from '../../errors.js'
import { toAppError } from '../../errors.js'
import { findApplication } from '../../pdp/find-application.js'
import { newCall } from '../../pdp/new-call.js'
import type { Snapshot } from '../../pdp/snapshot.js'
import type { EvaluationCall } from '../../pdp/wasm/policy-instance.js'
import type { Exchange } from '../exchange.js'
import type { PolicyContext } from './policy-context.js'

const NS_PER_MS = 1_000_000

/** How a decision ended, for the log. */
export interface Outcome {
  readonly outcome: DecisionOutcome
  readonly result?: string | undefined
}

/** One decision from the request to the log: its id, its time, and the snapshot that it is made with. */
export class Decision {
  readonly id: string
  readonly timeMs = Date.now()
  readonly snapshot: Snapshot
  readonly #context: PolicyContext
  readonly #exchange: Exchange
  readonly #kind: DecisionKind
  readonly #path: string
  readonly #startedAt = performance.now()

  constructor(context: PolicyContext, exchange: Exchange, kind: DecisionKind, path: string) {
    this.#context = context
    this.#exchange = exchange
    this.#kind = kind
    this.#path = path
    this.id = context.nextDecisionId(this.timeMs)
    this.snapshot = context.policies.current
    exchange.decisionId = this.id
  }

  get elapsedNs(): number {
    return Math.round((performance.now() - this.#startedAt) * NS_PER_MS)
  }

  newCall(strictBuiltinErrors = false): EvaluationCall {
    return newCall({ nowMs: this.timeMs, strictBuiltinErrors })
  }

  /** Decides and records what came out; an error is recorded too, and raised again. */
  decide<T extends Outcome>(input: Uint8Array | undefined, evaluate: () => T): T {
    try {
      const made = evaluate()
      this.#record(input, made)
      return made
    } catch (raw) {
      const error = toAppError(raw)
      this.#record(input, { outcome: 'error' }, error)
      throw error
    }
  }

  #record(input: Uint8Array | undefined, made: Outcome, error?: AppError): void {
    this.#context.evaluated(this.#kind, made.outcome)
    if (!this.#context.isLogging) return
    this.#context.decisionLog.record({
      decisionId: this.id,
      timeMs: this.timeMs,
      kind: this.#kind,
      path: this.#path,
      revision: this.snapshot.revision,
      outcome: made.outcome,
      application: input === undefined ? undefined : findApplication(input),
      caller: this.#exchange.callerName,
      durationNs: this.elapsedNs,
      input,
      result: made.result === undefined ? undefined : Buffer.from(made.result),
      error: error === undefined ? undefined : describe(error),
      requestId: this.#exchange.requestId,
    })
  }
}

function describe(error: AppError): string {
  return [error.message, ...error.details.map(({ code, message }) => `${code}: ${message}`)].join('; ')
}
