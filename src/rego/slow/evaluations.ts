import { AppError } from '../../errors/app-error.js'
import { packCalls, unpackCalls, unpackMissing } from '../builtins/shared/recorded-calls.js'
import type { MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import type { Denial, Warning } from '../evaluation/denial.js'
import { evaluateAdvice } from '../evaluation/evaluate-advice.js'
import type { AdviceRequest } from '../evaluation/evaluate-advice.js'
import { evaluateDocument } from '../evaluation/evaluate-document.js'
import type { DocumentPlan } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import { strictnessOf } from './strict-builtin-errors.js'
import type { Strictness } from './strict-builtin-errors.js'
import { newCall } from '../evaluation/new-call.js'
import type { RecordingCall } from '../evaluation/new-call.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationCost } from '../metering/evaluation-cost.js'
import type { CostMeasurements } from '../metering/evaluation-cost.js'
import { AnswerMissing } from '../evaluation/answer-missing.js'
import { EvaluationSlice, SliceOver } from '../wasm/evaluation-budget.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { EvaluateOptions, EvaluationsOptions } from './evaluations-options.js'
import type { Answered } from './messages.js'
import { evaluationKeyOf, isMissing, pathKeyOf, requestFor } from './question.js'
import type { Answer, EvaluationRequest } from './question.js'
import { packFailure } from './slow-failure.js'
import { SliceAllowance, SlowPaths } from './slow-paths.js'

/** Measures the cost of one in this many evaluations. */
const SAMPLED_OF = 16

type CostListener = (cost: CostMeasurements) => void

/**
 * Runs all evaluations of the service. Each one starts on the deciding thread and mostly ends
 * there. An evaluation that exceeds its slice is aborted and repeated by a slow thread from the
 * start. Evaluations are pure, so the answer is the same.
 */
export class Evaluations {
  readonly #options: EvaluationsOptions
  readonly #allowance: SliceAllowance
  readonly #slowPaths = new SlowPaths()
  readonly #cost = new EvaluationCost()
  readonly #print: ((line: string) => void) | undefined
  #lines: string[] = []
  #count = 0
  /** The policies of the slow paths. */
  #snapshot: Snapshot | undefined

  constructor(options: EvaluationsOptions) {
    this.#options = options
    this.#print = options.printed && ((line) => void this.#lines.push(line))
    this.#allowance = new SliceAllowance(options.sliceMs)
  }

  /**
   * Evaluates the document of a plan to JSON text, or undefined. Raises as `evaluateDocument`, and
   * `unavailable` after waiting too long.
   */
  document(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: EvaluateOptions,
  ): string | undefined | Promise<string | undefined> {
    const evaluate: Evaluate<string | undefined> = (call, bytes) => evaluateDocument(plan, bytes, call)
    return this.#evaluate(requestFor(plan, 'document', input), options, evaluate)
  }

  /**
   * Evaluates a runtime policy to the reasons against an execution. Raises as
   * `evaluateRuntimePolicy` and `document`. `packages` are those of the plan to evaluate, if not
   * all.
   */
  runtime(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: EvaluateOptions,
    packages?: readonly string[],
  ): readonly Denial[] | Promise<readonly Denial[]> {
    const evaluate: Evaluate<readonly Denial[]> = (call, bytes) =>
      evaluateRuntimePolicy(plan, bytes, call, packages)
    return this.#evaluate(requestFor(plan, 'runtime', input, packages), options, evaluate)
  }

  /**
   * Evaluates static policies to the reasons against a change. Raises as `evaluateStaticPolicies`
   * and `document`.
   */
  static(
    snapshot: Snapshot,
    packages: readonly string[],
    input: Uint8Array | undefined,
    options: EvaluateOptions,
  ): readonly Denial[] | Promise<readonly Denial[]> {
    const evaluate: Evaluate<readonly Denial[]> = (call, bytes) =>
      evaluateStaticPolicies(snapshot, packages, bytes, call).denials
    const question = { kind: 'static', packages } as const
    return this.#evaluate({ snapshot, question, evaluated: [], input }, options, evaluate)
  }

  /**
   * Evaluates what warns. A rule that fails is a warning, too. Raises the errors of waiting and of
   * requests to other hosts.
   */
  advice(
    snapshot: Snapshot,
    request: AdviceRequest,
    input: Uint8Array | undefined,
    options: EvaluateOptions,
  ): readonly Warning[] | Promise<readonly Warning[]> {
    const evaluate: Evaluate<readonly Warning[]> = (call, bytes) =>
      evaluateAdvice(snapshot, request, bytes, call)
    const question = { kind: 'advice', ...request } as const
    return this.#evaluate({ snapshot, question, evaluated: [], input }, options, evaluate)
  }

  #evaluate<A extends Answer>(
    request: EvaluationRequest,
    options: EvaluateOptions,
    evaluate: Evaluate<A>,
  ): A | Promise<A> {
    const { nowMs } = options
    const reportCost = this.#costListener(options)
    if (this.#options.sliceMs === 0) return this.#evaluateSlowly({ request, options, evaluate, reportCost })
    const key = this.#slowPaths.isEmpty ? undefined : pathKeyOf(request)
    if (key !== undefined && this.#isForSlow(request.snapshot, key, nowMs))
      return this.#evaluateSlowly({ request, options, evaluate, reportCost })
    const slice = new EvaluationSlice(this.#allowance.lengthMs(nowMs))
    const call = this.#newCall({ request, options }, slice, reportCost && this.#cost, options.known)
    try {
      call.cost?.clear()
      const answer = evaluate(call, request.input)
      if (call.cost !== undefined) reportCost?.(call.cost)
      if (call.recorded !== undefined) options.recorded?.(call.recorded)
      if (this.#lines.length > 0) this.#reportPrinted()
      if (key !== undefined) this.#slowPaths.ended(key)
      return answer
    } catch (raw) {
      if (raw instanceof AnswerMissing)
        return this.#evaluateWithAnswers({ request, options, evaluate, reportCost }, raw.call, raw.recorded)
      if (!(raw instanceof SliceOver)) return this.#fail(raw, request.snapshot)
      this.#giveUp(key ?? pathKeyOf(request), slice, nowMs)
      return this.#evaluateSlowly({ request, options, evaluate, reportCost })
    }
  }

  #newCall(
    turn: Pick<Turn<Answer>, 'request' | 'options'>,
    slice: EvaluationSlice,
    cost: EvaluationCost | undefined,
    recorded?: RecordedCalls,
  ): RecordingCall {
    const allowsRequests = this.#options.requests !== undefined
    // The repeated evaluation prints the lines of an aborted one again.
    if (this.#lines.length > 0) this.#lines = []
    return newCall({
      nowMs: turn.options.nowMs,
      ...this.#strictness(turn),
      ...{ slice, cost, recorded, allowsRequests, print: this.#print },
    })
  }

  /** Returns the strictness, which is equal in every thread and process. */
  #strictness({
    request: { question },
    options: { strictBuiltinErrors = false, isVerdict = question.kind !== 'document' },
  }: Pick<Turn<Answer>, 'request' | 'options'>): Strictness {
    if (strictBuiltinErrors) return { strictBuiltinErrors, isVerdict }
    return strictnessOf(this.#options.strictBuiltinErrors ?? 'verdicts', isVerdict)
  }

  #reportPrinted(): void {
    this.#options.printed?.(this.#lines)
    this.#lines = []
  }

  async #evaluateSlowly<A extends Answer>(turn: Turn<A>): Promise<A> {
    const { answer, recorded } = await this.#submit(turn, turn.options.known)
    if (!isMissing(answer)) return answer as A
    return await this.#evaluateWithAnswers(turn, unpackMissing(answer.missing), unpackCalls(recorded))
  }

  /**
   * Sends missing requests and evaluates again until none is missing, with the same time and random
   * values.
   */
  async #evaluateWithAnswers<A extends Answer>(
    turn: Turn<A>,
    first: MissingCall,
    recorded: RecordedCalls,
  ): Promise<A> {
    const { requests } = this.#options
    if (requests === undefined) throw new AppError('internal', `nobody answers ${first.name}`)
    const { request, options } = turn
    const gone = new AbortController()
    const decision = requests.begin(options.nowMs, gone.signal)
    // The caller may reuse the buffer.
    const input = request.input && new Uint8Array(request.input)
    const kept = { ...turn, request: { ...request, input } }
    try {
      for (let found = { call: first, recorded }; ;) {
        options.onClientGone?.(() => gone.abort())
        await decision.answer(found.call, found.recorded)
        const next = await this.#evaluateAgain(kept, found.recorded)
        if (!('call' in next)) return next.answer
        found = next
      }
    } finally {
      decision.end()
    }
  }

  /** Evaluates again with the answers so far, on this thread if it ends within its slice. */
  async #evaluateAgain<A extends Answer>(turn: Turn<A>, recorded: RecordedCalls): Promise<Outcome<A>> {
    const { request, options, evaluate, reportCost } = turn
    const { sliceMs } = this.#options
    const slice = new EvaluationSlice(sliceMs && this.#allowance.lengthMs(Date.now()))
    const call = this.#newCall(turn, slice, reportCost && this.#cost, recorded)
    try {
      if (sliceMs === 0) throw new SliceOver()
      call.cost?.clear()
      const answer = evaluate(call, request.input)
      if (call.cost !== undefined) reportCost?.(call.cost)
      options.recorded?.(recorded)
      if (this.#lines.length > 0) this.#reportPrinted()
      return { answer }
    } catch (raw) {
      if (raw instanceof AnswerMissing) return { call: raw.call, recorded: raw.recorded }
      if (!(raw instanceof SliceOver)) return await this.#fail(raw, request.snapshot)
      if (sliceMs > 0) this.#giveUp(pathKeyOf(request), slice, Date.now())
      const { answer, recorded: known } = await this.#submit(turn, recorded)
      if (!isMissing(answer)) return { answer: answer as A }
      return { call: unpackMissing(answer.missing), recorded: unpackCalls(known) }
    }
  }

  /** Returns a receiver of the cost, or none. Measuring adds a third to a small evaluation. */
  #costListener(options: EvaluateOptions): CostListener | undefined {
    this.#count = (this.#count + 1) % SAMPLED_OF
    const isSampled = this.#count === 1
    if (!isSampled && options.wantsCost !== true) return undefined
    return (cost) => {
      if (isSampled) this.#options.spent?.(cost)
      options.spent?.(cost)
    }
  }

  #fail(raw: unknown, snapshot: Snapshot): Promise<never> {
    if (this.#lines.length > 0) this.#reportPrinted()
    const { locate } = this.#options
    if (locate === undefined) throw raw
    const failure = packFailure(raw)
    if (failure.type === 'error') throw raw
    return locate(failure, snapshot).then((located) => {
      throw located
    })
  }

  /**
   * True to skip the deciding thread. If all slow threads are busy, an evaluation is tried here
   * anyway, so that one bad input does not delay small evaluations of the same path, unless aborted
   * tries have made slices short.
   */
  #isForSlow(snapshot: Snapshot, key: string, nowMs: number): boolean {
    if (this.#snapshot !== snapshot) {
      this.#snapshot = snapshot
      this.#slowPaths.clear()
      return false
    }
    const record = this.#slowPaths.find(key)
    if (record === undefined || record.isWorthTrying()) return false
    return this.#options.slow.isFree || !this.#allowance.isFull(nowMs)
  }

  #giveUp(key: string, slice: EvaluationSlice, nowMs: number): void {
    this.#slowPaths.overran(key)
    this.#allowance.lose(slice.spentMs, nowMs)
    this.#options.abandoned(slice.spentMs)
  }

  /** Evaluates on a slow thread. Copies the input, since the caller may reuse the buffer. */
  async #submit<A extends Answer>(turn: Turn<A>, recorded?: RecordedCalls): Promise<Answered> {
    const { request, options, reportCost } = turn
    const { snapshot, question, input } = request
    const { nowMs, caller = '' } = options
    const { answer, drop } = this.#options.slow.submit({
      key: `${caller} ${evaluationKeyOf(request)}`,
      snapshot,
      request: {
        question,
        input: input === undefined ? undefined : new Uint8Array(input),
        nowMs,
        ...this.#strictness(turn),
        recorded: packCalls(recorded),
        allowsRequests: this.#options.requests !== undefined,
        wantsPrinted: this.#print !== undefined,
      },
    })
    options.onClientGone?.(drop)
    const answered = await answer
    if (isMissing(answered.answer)) return answered
    if (answered.printed !== undefined && answered.printed.length > 0)
      this.#options.printed?.(answered.printed)
    if (answered.cost !== undefined) reportCost?.(answered.cost)
    if (answered.recorded !== undefined) options.recorded?.(unpackCalls(answered.recorded))
    return answered
  }
}

type Evaluate<A> = (call: EvaluationCall, input: Uint8Array | undefined) => A

/** The parameters of an evaluation, on any thread. */
interface Turn<A> {
  readonly request: EvaluationRequest
  readonly options: EvaluateOptions
  readonly evaluate: Evaluate<A>
  readonly reportCost: CostListener | undefined
}

/** An answer, or the request to send first. */
type Outcome<A> = { readonly answer: A } | { readonly call: MissingCall; readonly recorded: RecordedCalls }
