import type { DecisionKind, DecisionOutcome } from '../../decisions/decision-log.js'
import type { AppError } from '../../errors/app-error.js'
import { toAppError } from '../../errors/app-error.js'
import {
  findApplication,
  ndBuiltinCache,
  type EvaluateOptions,
  type CostMeasurements,
  type Evaluations,
  type PackageDenials,
  type RecordedCalls,
  type Snapshot,
} from '../../rego/index.js'
import type { Exchange } from '../exchange/exchange.js'
import type { PolicyContext } from './policy-context.js'

const NS_PER_MS = 1_000_000

/** How a decision ended, for the log. */
export interface Outcome {
  readonly outcome: DecisionOutcome
  readonly result?: string | undefined
  /** Where it denies: which packages do, and what each says. */
  readonly packages?: readonly PackageDenials[]
}

/** One decision from the request to the log: its id, its time, and the snapshot that it is made with. */
export class Decision implements EvaluateOptions {
  strictBuiltinErrors = false
  wantsCost = false
  readonly id: string
  readonly timeMs = Date.now()
  readonly snapshot: Snapshot
  readonly #context: PolicyContext
  readonly #exchange: Exchange
  readonly #kind: DecisionKind
  readonly #path: string
  readonly #startedAt = performance.now()
  #calls: RecordedCalls | undefined
  /** What it took, once it is there. */
  fuel = 0
  instancesReplaced = 0

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

  /**
   * Asks, and records what is concluded from the answer; an error is recorded too, and raised again. Where the answer is there at
   * once, so is the outcome: most decisions need no promise.
   */
  decide<A, T extends Outcome>(
    input: Uint8Array | undefined,
    ask: (evaluations: Evaluations, options: EvaluateOptions) => A | Promise<A>,
    conclude: (answer: A) => T,
    strictBuiltinErrors = false,
  ): T | Promise<T> {
    this.strictBuiltinErrors = strictBuiltinErrors
    try {
      const answer = ask(this.#context.evaluations, this)
      if (!(answer instanceof Promise)) return this.#record(input, conclude(answer))
      return answer
        .then((later) => this.#record(input, conclude(later)))
        .catch((raw: unknown) => this.#fail(input, raw))
    } catch (raw) {
      return this.#fail(input, raw)
    }
  }

  get nowMs(): number {
    return this.timeMs
  }

  get caller(): string | undefined {
    return this.#exchange.caller.tokenName ?? this.#exchange.remoteAddress
  }

  spent({ fuel, instancesReplaced }: CostMeasurements): void {
    this.fuel = fuel
    this.instancesReplaced = instancesReplaced
  }

  recorded(calls: RecordedCalls): void {
    this.#calls = calls
  }

  onClientGone(drop: () => void): void {
    this.#exchange.whenGone(drop)
  }

  /** Left out where it is larger than what is kept of an input: half of it would make no decision again. */
  #printCalls(calls: RecordedCalls): Uint8Array | undefined {
    const { ndBuiltinCacheBytes } = this.#context
    const text = ndBuiltinCacheBytes === 0 ? undefined : ndBuiltinCache(calls, ndBuiltinCacheBytes)
    return text === undefined ? undefined : Buffer.from(text)
  }

  #fail(input: Uint8Array | undefined, raw: unknown): never {
    const error = toAppError(raw)
    this.#record(input, { outcome: 'error' }, error)
    throw error
  }

  #record<T extends Outcome>(input: Uint8Array | undefined, made: T, error?: AppError): T {
    this.#context.evaluated(this.#kind, made.outcome)
    if (!this.#context.isLogging) return made
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
      packages: made.packages?.length ? Buffer.from(JSON.stringify(made.packages)) : undefined,
      ndBuiltinCache: this.#calls && this.#printCalls(this.#calls),
      error: error === undefined ? undefined : describe(error),
      requestId: this.#exchange.requestId,
    })
    return made
  }
}

function describe(error: AppError): string {
  return [error.message, ...error.details.map(({ code, message }) => `${code}: ${message}`)].join('; ')
}
