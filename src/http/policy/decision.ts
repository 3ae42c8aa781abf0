import type { DecisionKind, DecisionOutcome, DecisionLog } from '../../decisions/decision-log.js'
import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import {
  chooseSnapshot,
  findApplication,
  ndBuiltinCache,
  type EvaluateOptions,
  type CostMeasurements,
  type Evaluations,
  type RecordedCalls,
  type ServedSnapshots,
  type Snapshot,
} from '../../rego/index.js'
import type { ExplainDecision } from '../../explain/explain-decision.js'
import type { ExplainableDecision } from '../../explain/recorded-findings.js'
import type { Enforcement } from '../../enforcement/enforcement.js'
import { packagesJson } from '../../enforcement/verdict.js'
import type { Verdict } from '../../enforcement/verdict.js'
import type { InSpan } from '../../telemetry/telemetry.js'
import type { Exchange } from '../exchange/exchange.js'

export interface PolicyContext {
  readonly policies: ServedSnapshots
  readonly evaluations: Evaluations
  /** Evaluates verdicts by the levels of packages. */
  readonly enforcement: Enforcement
  readonly decisionLog: DecisionLog
  /** True if responses in OPA's dialect include `decision_id`, which requires the decision log. */
  readonly isLogging: boolean
  /** Maximum stored size of nondeterministic calls per decision, in bytes; 0 stores none. */
  readonly ndBuiltinCacheBytes: number
  readonly maxBodyBytes: number
  /** Total time for the evaluations of one request, in milliseconds. */
  readonly maxRequestMs: number
  /**
   * Converts YAML to JSON of at most `maxBytes` on another thread. Raises `invalid`, `too_large`
   * and `unavailable`.
   */
  readonly readYaml: (text: string, maxBytes: number) => Promise<string>
  /** Package patterns of the static policies. */
  readonly staticPackages: readonly string[]
  /** Path of the default decision (`POST /`), without a leading slash. */
  readonly defaultDecision: string
  /** Path of the document that decides access evaluations; undefined if there is none. */
  readonly accessDecision: string | undefined
  /** Path of the rule that authorizes requests; undefined if there is none. */
  readonly authorization?: string | undefined
  /** Explains the rules of a decision; undefined if that is not set up. */
  readonly explain?: ExplainDecision | undefined
  readonly version: string
  readonly nextDecisionId: (nowMs: number) => string
  readonly evaluated: (kind: string, outcome: string) => void
  /** Records evaluations, if requests are traced. */
  readonly inSpan?: InSpan | undefined
  /** Counts the warnings of a decision. */
  readonly warned: (warnings: Verdict['warnings']) => void
}

/** In bytes. Longer calls are not replayed. */
const MAX_EXPLAINED_CALLS = 4 * 1024 * 1024
const NS_PER_MS = 1_000_000

/** Outcome of a decision for the log. */
export interface Outcome {
  readonly outcome: DecisionOutcome
  readonly result?: string | undefined
  /** The reasons of a verdict. */
  readonly verdict?: Verdict
}

/** One decision with its id, time and policy snapshot. */
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
  /** Set after the evaluation. */
  fuel = 0
  instancesReplaced = 0

  /** `input` chooses the revision while another one is staged. */
  constructor(
    context: PolicyContext,
    exchange: Exchange,
    kind: DecisionKind,
    path: string,
    input: Uint8Array | undefined,
  ) {
    this.#context = context
    this.#exchange = exchange
    this.#kind = kind
    this.#path = path
    this.id = context.nextDecisionId(this.timeMs)
    this.snapshot = chooseSnapshot(context.policies, input)
    exchange.decisionId = this.id
  }

  get elapsedNs(): number {
    return Math.round((performance.now() - this.#startedAt) * NS_PER_MS)
  }

  /**
   * Evaluates, and records the outcome or the error in the decision log. Raises the errors of
   * `evaluate`.
   */
  async decide<A, T extends Outcome>(
    input: Uint8Array | undefined,
    evaluate: (evaluations: Evaluations, options: EvaluateOptions) => A | Promise<A>,
    conclude: (answer: A) => T,
    strictBuiltinErrors = false,
  ): Promise<T> {
    this.strictBuiltinErrors = strictBuiltinErrors
    try {
      return this.#record(input, conclude(await this.#evaluate(evaluate)))
    } catch (raw) {
      const error = toAppError(raw)
      this.#record(input, { outcome: 'error' }, error)
      throw error
    }
  }

  #evaluate<A>(
    evaluate: (evaluations: Evaluations, options: EvaluateOptions) => A | Promise<A>,
  ): A | Promise<A> {
    const { inSpan, evaluations } = this.#context
    if (inSpan === undefined) return evaluate(evaluations, this)
    const attributes = { 'tidegate.path': this.#path, 'tidegate.revision': this.snapshot.revision }
    return inSpan('evaluate', attributes, () => evaluate(evaluations, this))
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

  /** The calls of the evaluation so far, which the one of its warnings reuses. */
  get known(): RecordedCalls | undefined {
    return this.#calls
  }

  recorded(calls: RecordedCalls): void {
    this.#calls = calls
  }

  /** Returns the decision about a document for an explanation of its rules. */
  explainable(input: Uint8Array | undefined, { outcome, result }: Outcome): ExplainableDecision {
    const calls = this.#calls && ndBuiltinCache(this.#calls, MAX_EXPLAINED_CALLS)
    const { id: decisionId, timeMs, snapshot } = this
    return {
      ...{ decisionId, timeMs, outcome, revision: snapshot.revision, kind: 'data', path: this.#path },
      ...{ input: input ?? null, inputBytes: input?.length ?? null, inputTruncated: false, packages: null },
      ...{ result: result === undefined ? null : Buffer.from(result), resultTruncated: false },
      ndBuiltinCache: calls === undefined ? null : Buffer.from(calls),
    }
  }

  onClientGone(drop: () => void): void {
    this.#exchange.whenGone(drop)
  }

  /** Omitted above the size limit, since a partial record could not reproduce the decision. */
  #printCalls(calls: RecordedCalls): Uint8Array | undefined {
    const { ndBuiltinCacheBytes } = this.#context
    const text = ndBuiltinCacheBytes === 0 ? undefined : ndBuiltinCache(calls, ndBuiltinCacheBytes)
    return text === undefined ? undefined : Buffer.from(text)
  }

  #record<T extends Outcome>(input: Uint8Array | undefined, made: T, error?: AppError): T {
    this.#context.evaluated(this.#kind, made.outcome)
    if (made.verdict !== undefined && made.verdict.warnings.length > 0)
      this.#context.warned(made.verdict.warnings)
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
      packages: made.verdict && packagesJson(made.verdict),
      ndBuiltinCache: this.#calls && this.#printCalls(this.#calls),
      error: error === undefined ? undefined : describe(error),
      requestId: this.#exchange.requestId,
      traceId: this.#exchange.traceId,
    })
    return made
  }
}

function describe(error: AppError): string {
  return [error.message, ...error.details.map(({ code, message }) => `${code}: ${message}`)].join('; ')
}
