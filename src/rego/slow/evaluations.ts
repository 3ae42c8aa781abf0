import { AppError } from '../../errors/app-error.js'
import { packCalls, unpackCalls, unpackMissing } from '../builtins/shared/recorded-calls.js'
import type { MissingCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import type { Denial } from '../evaluation/denial.js'
import { evaluateDocument } from '../evaluation/evaluate-document.js'
import type { DocumentPlan } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import { strictnessOf } from './strict-builtin-errors.js'
import type { StrictBuiltinErrors, Strictness } from './strict-builtin-errors.js'
import { newCall } from '../evaluation/new-call.js'
import type { RecordingCall } from '../evaluation/new-call.js'
import type { PolicyRequests } from '../requests/policy-requests.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationCost } from '../metering/evaluation-cost.js'
import type { CostFigures } from '../metering/evaluation-cost.js'
import { AnswerMissing } from '../evaluation/answer-missing.js'
import { EvaluationSlice, SliceOver } from '../wasm/evaluation-slice.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { Answered, SlowFailure } from './messages.js'
import { isMissing } from './question.js'
import type { Answer, Question } from './question.js'
import { packFailure } from './slow-failure.js'
import { SliceAllowance } from './slice-allowance.js'
import type { SlowEvaluations } from './slow-evaluations.js'
import { SlowPaths } from './slow-paths.js'

/** Of so many questions, one is taken down what it costs. */
const SAMPLED_OF = 16

type CostListener = (cost: CostFigures) => void

/** What a question is asked with beside its input. */
export interface AskOptions {
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs: number
  /** Whether the client wants an error where a built-in fails, whatever the configuration. */
  readonly strictBuiltinErrors?: boolean
  /** Whether a document is used as a verdict, as runtime and static questions always are. */
  readonly isVerdict?: boolean
  /** Who asks, so that nobody waits for the questions of another alone. */
  readonly caller?: string | undefined
  /** Whether to tell what the question costs, before its answer is there. */
  readonly wantsCost?: boolean
  spent?(cost: CostFigures): void
  /** Told the calls that may give something else another time, if there were any, before the answer is there. */
  recorded?(calls: RecordedCalls): void
  /** Takes what to do when nobody waits for the answer any more. */
  whenGone?(drop: () => void): void
}

export interface EvaluationsOptions {
  readonly slow: Pick<SlowEvaluations, 'submit' | 'isFree'>
  /** How long an evaluation may hold the thread that decides, in milliseconds; 0 leaves all of them to the slow threads. */
  readonly sliceMs: number
  /** `policies.strictBuiltinErrors`; `verdicts` by default. */
  readonly strictBuiltinErrors?: StrictBuiltinErrors
  /** Called for each evaluation that was given up, and after how long, in milliseconds. */
  readonly abandoned: (lostMs: number) => void
  /** Told what every sixteenth question cost, if it was answered; the figures are used again for the next one. */
  readonly spent?: (cost: CostFigures) => void
  /** Told what policies print, in lines, when an evaluation has ended; absent where nobody reads it. */
  readonly printed?: ((lines: readonly string[]) => void) | undefined
  /** Finds out what policies ask of others; absent where nobody does. */
  readonly requests?: Pick<PolicyRequests, 'begin'>
  /** Gives the error of an evaluation that failed with its place in the sources, where these are not at hand; absent where they are. */
  readonly locate?: (failure: SlowFailure, snapshot: Snapshot) => Promise<AppError>
}

/**
 * Every evaluation of the service. It begins on the thread that decides and mostly ends there, at once; what does not end within its
 * slice is given up and done again by a slow thread, from the start: evaluations are pure, so the answer is the same.
 */
export class Evaluations {
  readonly #options: EvaluationsOptions
  readonly #allowance: SliceAllowance
  readonly #slowPaths = new SlowPaths()
  readonly #cost = new EvaluationCost()
  readonly #print: ((line: string) => void) | undefined
  #lines: string[] = []
  #asked = 0
  /** The policies that the slow paths are of. */
  #snapshot: Snapshot | undefined

  constructor(options: EvaluationsOptions) {
    this.#options = options
    this.#print = options.printed && ((line) => void this.#lines.push(line))
    this.#allowance = new SliceAllowance(options.sliceMs)
  }

  /** The document of a plan as JSON text, or undefined. Raises as `evaluateDocument`, and `unavailable` where it has to wait too long. */
  document(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: AskOptions,
  ): string | undefined | Promise<string | undefined> {
    const evaluate: Evaluate<string | undefined> = (call, bytes) => evaluateDocument(plan, bytes, call)
    return this.#ask(asked(plan, 'document', input), options, evaluate)
  }

  /** The reasons against an execution, as `evaluateRuntimePolicy` gives them. Raises as that, and as `document`. */
  runtime(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: AskOptions,
  ): readonly Denial[] | Promise<readonly Denial[]> {
    const evaluate: Evaluate<readonly Denial[]> = (call, bytes) => evaluateRuntimePolicy(plan, bytes, call)
    return this.#ask(asked(plan, 'runtime', input), options, evaluate)
  }

  /** The reasons of static policies against a change, as `evaluateStaticPolicies` gives them. Raises as that, and as `document`. */
  static(
    snapshot: Snapshot,
    packages: readonly string[],
    input: Uint8Array | undefined,
    options: AskOptions,
  ): readonly Denial[] | Promise<readonly Denial[]> {
    const evaluate: Evaluate<readonly Denial[]> = (call, bytes) =>
      evaluateStaticPolicies(snapshot, packages, bytes, call).denials
    const question = { kind: 'static', packages } as const
    return this.#ask({ snapshot, question, evaluated: [], input }, options, evaluate)
  }

  #ask<A extends Answer>(asked: Asked, options: AskOptions, evaluate: Evaluate<A>): A | Promise<A> {
    const { nowMs } = options
    const tellCost = this.#costListener(options)
    if (this.#options.sliceMs === 0) return this.#askSlow({ asked, options, evaluate, tellCost })
    const key = this.#slowPaths.isEmpty ? undefined : pathKeyOf(asked)
    if (key !== undefined && this.#isForSlow(asked.snapshot, key, nowMs))
      return this.#askSlow({ asked, options, evaluate, tellCost })
    const slice = new EvaluationSlice(this.#allowance.lengthMs(nowMs))
    const call = this.#newCall({ asked, options }, slice, tellCost && this.#cost)
    try {
      call.cost?.clear()
      const answer = evaluate(call, asked.input)
      if (call.cost !== undefined) tellCost?.(call.cost)
      if (call.recorded !== undefined) options.recorded?.(call.recorded)
      if (this.#lines.length > 0) this.#tellPrinted()
      if (key !== undefined) this.#slowPaths.ended(key)
      return answer
    } catch (raw) {
      if (raw instanceof AnswerMissing)
        return this.#askWithAnswers({ asked, options, evaluate, tellCost }, raw.call, raw.recorded)
      if (!(raw instanceof SliceOver)) return this.#fail(raw, asked.snapshot)
      this.#giveUp(key ?? pathKeyOf(asked), slice, nowMs)
      return this.#askSlow({ asked, options, evaluate, tellCost })
    }
  }

  #newCall(
    turn: Pick<Turn<Answer>, 'asked' | 'options'>,
    slice: EvaluationSlice,
    cost: EvaluationCost | undefined,
    recorded?: RecordedCalls,
  ): RecordingCall {
    const asksOutside = this.#options.requests !== undefined
    // What an evaluation printed that did not end here is printed again.
    if (this.#lines.length > 0) this.#lines = []
    return newCall({
      nowMs: turn.options.nowMs,
      ...this.#strictness(turn),
      ...{ slice, cost, recorded, asksOutside, print: this.#print },
    })
  }

  /** The same for every thread and process that evaluates the question. */
  #strictness({
    asked: { question },
    options: { strictBuiltinErrors = false, isVerdict = question.kind !== 'document' },
  }: Pick<Turn<Answer>, 'asked' | 'options'>): Strictness {
    if (strictBuiltinErrors) return { strictBuiltinErrors, isVerdict }
    return strictnessOf(this.#options.strictBuiltinErrors ?? 'verdicts', isVerdict)
  }

  #tellPrinted(): void {
    this.#options.printed?.(this.#lines)
    this.#lines = []
  }

  async #askSlow<A extends Answer>(turn: Turn<A>): Promise<A> {
    const { answer, recorded } = await this.#submit(turn)
    if (!isMissing(answer)) return answer as A
    return await this.#askWithAnswers(turn, unpackMissing(answer.missing), unpackCalls(recorded))
  }

  /** Has found out what is missing, and evaluates again, until nothing is: at the same time, with the same random values. */
  async #askWithAnswers<A extends Answer>(
    turn: Turn<A>,
    first: MissingCall,
    recorded: RecordedCalls,
  ): Promise<A> {
    const { requests } = this.#options
    if (requests === undefined) throw new AppError('internal', `nobody answers ${first.name}`)
    const { asked, options } = turn
    const gone = new AbortController()
    const decision = requests.begin(options.nowMs, gone.signal)
    // Who gave the bytes may use them for something else.
    const input = asked.input && new Uint8Array(asked.input)
    const kept = { ...turn, asked: { ...asked, input } }
    try {
      for (let found = { call: first, recorded }; ;) {
        options.whenGone?.(() => gone.abort())
        await decision.answer(found.call, found.recorded)
        const next = await this.#askAgain(kept, found.recorded)
        if (!('call' in next)) return next.answer
        found = next
      }
    } finally {
      decision.end()
    }
  }

  /** One more evaluation, with what has been found out: here where it ends within its slice. */
  async #askAgain<A extends Answer>(turn: Turn<A>, recorded: RecordedCalls): Promise<Outcome<A>> {
    const { asked, options, evaluate, tellCost } = turn
    const { sliceMs } = this.#options
    const slice = new EvaluationSlice(sliceMs && this.#allowance.lengthMs(Date.now()))
    const call = this.#newCall(turn, slice, tellCost && this.#cost, recorded)
    try {
      if (sliceMs === 0) throw new SliceOver()
      call.cost?.clear()
      const answer = evaluate(call, asked.input)
      if (call.cost !== undefined) tellCost?.(call.cost)
      options.recorded?.(recorded)
      if (this.#lines.length > 0) this.#tellPrinted()
      return { answer }
    } catch (raw) {
      if (raw instanceof AnswerMissing) return { call: raw.call, recorded: raw.recorded }
      if (!(raw instanceof SliceOver)) return await this.#fail(raw, asked.snapshot)
      if (sliceMs > 0) this.#giveUp(pathKeyOf(asked), slice, Date.now())
      const { answer, recorded: known } = await this.#submit(turn, recorded)
      if (!isMissing(answer)) return { answer: answer as A }
      return { call: unpackMissing(answer.missing), recorded: unpackCalls(known) }
    }
  }

  /** Who is told what a question costs: mostly nobody, since taking that down costs a third of a small evaluation. */
  #costListener(options: AskOptions): CostListener | undefined {
    this.#asked = (this.#asked + 1) % SAMPLED_OF
    const isSampled = this.#asked === 1
    if (!isSampled && options.wantsCost !== true) return undefined
    return (cost) => {
      if (isSampled) this.#options.spent?.(cost)
      options.spent?.(cost)
    }
  }

  #fail(raw: unknown, snapshot: Snapshot): Promise<never> {
    if (this.#lines.length > 0) this.#tellPrinted()
    const { locate } = this.#options
    if (locate === undefined) throw raw
    const failure = packFailure(raw)
    if (failure.type === 'error') throw raw
    return locate(failure, snapshot).then((located) => {
      throw located
    })
  }

  /**
   * Whether not to try it here first. Where all threads are busy it is tried nevertheless, so that one bad input keeps nobody's
   * cheap questions to the same path waiting; unless so much was tried in vain that slices have become short.
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

  /** Has a slow thread evaluate. The bytes of the input are copied, since who gave them may use them for something else. */
  async #submit<A extends Answer>(turn: Turn<A>, recorded?: RecordedCalls): Promise<Answered> {
    const { asked, options, tellCost } = turn
    const { snapshot, question, input } = asked
    const { nowMs, caller = '' } = options
    const { answer, drop } = this.#options.slow.submit({
      key: `${caller} ${evaluationKeyOf(asked)}`,
      snapshot,
      request: {
        question,
        input: input === undefined ? undefined : new Uint8Array(input),
        nowMs,
        ...this.#strictness(turn),
        recorded: packCalls(recorded),
        asksOutside: this.#options.requests !== undefined,
        wantsPrinted: this.#print !== undefined,
      },
    })
    options.whenGone?.(drop)
    const answered = await answer
    if (isMissing(answered.answer)) return answered
    if (answered.printed !== undefined && answered.printed.length > 0)
      this.#options.printed?.(answered.printed)
    if (answered.cost !== undefined) tellCost?.(answered.cost)
    if (answered.recorded !== undefined) options.recorded?.(unpackCalls(answered.recorded))
    return answered
  }
}

type Evaluate<A> = (call: EvaluationCall, input: Uint8Array | undefined) => A

/** All that a question is asked with, here and elsewhere. */
interface Turn<A> {
  readonly asked: Asked
  readonly options: AskOptions
  readonly evaluate: Evaluate<A>
  readonly tellCost: CostListener | undefined
}

/** An answer, or what has to be found out first. */
type Outcome<A> = { readonly answer: A } | { readonly call: MissingCall; readonly recorded: RecordedCalls }

/** A question, and what is evaluated for it. */
interface Asked {
  readonly snapshot: Snapshot
  readonly question: Question
  /** The path of the rule or package that answers it. */
  readonly evaluated: readonly string[]
  readonly input: Uint8Array | undefined
}

function asked(plan: DocumentPlan, kind: 'document' | 'runtime', input: Uint8Array | undefined): Asked {
  const { snapshot, path, target } = plan
  return { snapshot, question: { kind, path }, evaluated: target?.entrypoint.path ?? path, input }
}

/**
 * What takes turns: the rule or package that is evaluated, however it was asked for. Paths below one rule are without end, and each
 * having a place of its own would fill the queue.
 */
function evaluationKeyOf({ question, evaluated }: Asked): string {
  return `${question.kind} ${evaluated.join('/')}`
}

/** Questions with the same key take about as long: the same evaluation, and an input of about the same size. */
function pathKeyOf(asked: Asked): string {
  const sizeClass = (32 - Math.clz32(asked.input?.length ?? 0)) >> 1
  return `${evaluationKeyOf(asked)} ${sizeClass}`
}
