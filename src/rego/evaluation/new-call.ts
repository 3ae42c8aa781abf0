import type { DecisionContext } from '../builtins/shared/builtin.js'
import type { RecordedCalls } from '../builtins/shared/recorded-calls.js'
import type { EvaluationCost } from '../metering/evaluation-cost.js'
import { AnswerMissing } from './answer-missing.js'
import type { EvaluationSlice } from '../wasm/evaluation-budget.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

const NS_PER_MS = 1_000_000n

export interface NewCallOptions {
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs?: number
  readonly strictBuiltinErrors?: boolean
  /** True if the answer allows or denies something. */
  readonly isVerdict?: boolean
  /** The slice of the thread, if limited. */
  readonly slice?: EvaluationSlice
  readonly cost?: EvaluationCost | undefined
  /** Recorded results of calls in earlier evaluations of the same decision. */
  readonly recorded?: RecordedCalls | undefined
  /** True if requests to other hosts can be answered. The evaluation then raises AnswerMissing. */
  readonly allowsRequests?: boolean
  /** Receives printed lines. */
  readonly print?: ((line: string) => void) | undefined
  /** Receives the markers of an explanation (`DecisionContext`). */
  readonly tracer?: DecisionContext['tracer']
}

/** The call of an evaluation with its recorded calls. */
export interface RecordingCall extends EvaluationCall {
  /** The calls with results that may differ next time, if any. */
  readonly recorded: RecordedCalls | undefined
}

/** Returns the call of a decision, with a fixed time and memory of random values. */
export function newCall(options: NewCallOptions = {}): RecordingCall {
  return new DecisionCall(options)
}

/** Most decisions use neither the time nor random values, so both are created on demand. */
class DecisionCall implements RecordingCall {
  readonly strictBuiltinErrors: boolean
  readonly isVerdict: boolean
  readonly slice: EvaluationSlice | undefined
  readonly cost: EvaluationCost | undefined
  readonly #nowMs: number
  readonly #allowsRequests: boolean
  readonly #before: RecordedCalls | undefined
  readonly #print: ((line: string) => void) | undefined
  readonly #tracer: DecisionContext['tracer']
  #context: DecisionContext | undefined

  constructor(options: NewCallOptions) {
    const { nowMs = Date.now(), strictBuiltinErrors = false, allowsRequests = false } = options
    this.#nowMs = nowMs
    this.strictBuiltinErrors = strictBuiltinErrors
    this.isVerdict = options.isVerdict ?? false
    this.slice = options.slice
    this.cost = options.cost
    this.#before = options.recorded
    this.#print = options.print
    this.#tracer = options.tracer
    this.#allowsRequests = allowsRequests
  }

  get context(): DecisionContext {
    this.#context ??= {
      ...newContext(this.#nowMs, this.#before ?? (new Map() as RecordedCalls), this.#allowsRequests),
      print: this.#print,
      tracer: this.#tracer,
    }
    return this.#context
  }

  get recorded(): RecordedCalls | undefined {
    const memo = this.#context?.memo
    return memo === undefined || memo.size === 0 ? undefined : memo
  }
}

function newContext(nowMs: number, memo: RecordedCalls, allowsRequests: boolean): DecisionContext {
  return {
    nowNs: BigInt(Math.trunc(nowMs)) * NS_PER_MS,
    memo,
    suspend: allowsRequests
      ? (call) => {
          throw new AnswerMissing(call, memo)
        }
      : undefined,
  }
}
