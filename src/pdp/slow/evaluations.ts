import type { AppError } from '../../errors/app-error.js'
import { evaluateDocument } from '../evaluation/evaluate-document.js'
import type { DocumentPlan } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import { newCall } from '../evaluation/new-call.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationCost } from '../metering/evaluation-cost.js'
import type { CostFigures } from '../metering/evaluation-cost.js'
import { EvaluationSlice, SliceOver } from '../wasm/evaluation-slice.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'
import type { SlowFailure } from './messages.js'
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
  readonly strictBuiltinErrors?: boolean
  /** Who asks, so that nobody waits for the questions of another alone. */
  readonly caller?: string | undefined
  /** Whether to tell what the question costs, before its answer is there. */
  readonly wantsCost?: boolean
  spent?(cost: CostFigures): void
  /** Takes what to do when nobody waits for the answer any more. */
  whenGone?(drop: () => void): void
}

export interface EvaluationsOptions {
  readonly slow: Pick<SlowEvaluations, 'submit' | 'isFree'>
  /** How long an evaluation may hold the thread that decides, in milliseconds; 0 leaves all of them to the slow threads. */
  readonly sliceMs: number
  /** Called for each evaluation that was given up, and after how long, in milliseconds. */
  readonly abandoned: (lostMs: number) => void
  /** Told what every sixteenth question cost, if it was answered; the figures are used again for the next one. */
  readonly spent?: (cost: CostFigures) => void
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
  #asked = 0
  /** The policies that the slow paths are of. */
  #snapshot: Snapshot | undefined

  constructor(options: EvaluationsOptions) {
    this.#options = options
    this.#allowance = new SliceAllowance(options.sliceMs)
  }

  /** The document of a plan as JSON text, or undefined. Raises as `evaluateDocument`, and `unavailable` where it has to wait too long. */
  document(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: AskOptions,
  ): string | undefined | Promise<string | undefined> {
    const evaluate = (call: EvaluationCall): string | undefined => evaluateDocument(plan, input, call)
    return this.#ask(asked(plan, 'document', input), options, evaluate)
  }

  /** The reasons against an execution, as `evaluateRuntimePolicy` gives them. Raises as that, and as `document`. */
  runtime(
    plan: DocumentPlan,
    input: Uint8Array | undefined,
    options: AskOptions,
  ): readonly string[] | Promise<readonly string[]> {
    const evaluate = (call: EvaluationCall): readonly string[] => evaluateRuntimePolicy(plan, input, call)
    return this.#ask(asked(plan, 'runtime', input), options, evaluate)
  }

  /** The reasons of static policies against a change, as `evaluateStaticPolicies` gives them. Raises as that, and as `document`. */
  static(
    snapshot: Snapshot,
    packages: readonly string[],
    input: Uint8Array | undefined,
    options: AskOptions,
  ): readonly string[] | Promise<readonly string[]> {
    const evaluate = (call: EvaluationCall): readonly string[] =>
      evaluateStaticPolicies(snapshot, packages, input, call).denials.map(({ text }) => text)
    const question = { kind: 'static', packages } as const
    return this.#ask({ snapshot, question, evaluated: [], input }, options, evaluate)
  }

  #ask<A extends Answer>(
    asked: Asked,
    options: AskOptions,
    evaluate: (call: EvaluationCall) => A,
  ): A | Promise<A> {
    const { nowMs, strictBuiltinErrors = false } = options
    const tellCost = this.#costListener(options)
    if (this.#options.sliceMs === 0) return this.#askSlow<A>(asked, options, tellCost)
    const key = this.#slowPaths.isEmpty ? undefined : pathKeyOf(asked)
    if (key !== undefined && this.#isForSlow(asked.snapshot, key, nowMs))
      return this.#askSlow<A>(asked, options, tellCost)
    const slice = new EvaluationSlice(this.#allowance.lengthMs(nowMs))
    const cost = tellCost && this.#cost
    try {
      cost?.clear()
      const answer = evaluate(newCall({ nowMs, strictBuiltinErrors, slice, cost }))
      if (cost !== undefined) tellCost?.(cost)
      if (key !== undefined) this.#slowPaths.ended(key)
      return answer
    } catch (raw) {
      if (!(raw instanceof SliceOver)) return this.#fail(raw, asked.snapshot)
      this.#giveUp(key ?? pathKeyOf(asked), slice, nowMs)
      return this.#askSlow<A>(asked, options, tellCost)
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

  /** The bytes of the input are copied, since who gave them may use them for something else. */
  #askSlow<A extends Answer>(asked: Asked, options: AskOptions, spent: CostListener | undefined): Promise<A> {
    const { snapshot, question, input } = asked
    const { nowMs, strictBuiltinErrors = false, caller = '' } = options
    const { answer, drop } = this.#options.slow.submit({
      key: `${caller} ${evaluationKeyOf(asked)}`,
      snapshot,
      ...(spent && { spent }),
      request: {
        question,
        input: input === undefined ? undefined : new Uint8Array(input),
        nowMs,
        strictBuiltinErrors,
      },
    })
    options.whenGone?.(drop)
    return answer as Promise<A>
  }
}

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
