import type { DecisionContext } from '../builtins/shared/builtin.js'
import type { RecordedCalls } from '../builtins/shared/recorded-calls.js'
import type { EvaluationCost } from '../metering/evaluation-cost.js'
import { AnswerMissing } from './answer-missing.js'
import type { EvaluationSlice } from '../wasm/evaluation-slice.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

const NS_PER_MS = 1_000_000n

export interface NewCallOptions {
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs?: number
  readonly strictBuiltinErrors?: boolean
  /** Whether the answer allows or denies something. */
  readonly isVerdict?: boolean
  /** Where the evaluation may hold its thread only so long. */
  readonly slice?: EvaluationSlice
  readonly cost?: EvaluationCost | undefined
  /** What calls gave when the same decision was evaluated before. */
  readonly recorded?: RecordedCalls | undefined
  /** Whether somebody answers what only others can: the evaluation then raises AnswerMissing. */
  readonly asksOutside?: boolean
  /** Takes the lines that policies print. */
  readonly print?: ((line: string) => void) | undefined
}

/** An evaluation's call that tells what it has recorded. */
export interface RecordingCall extends EvaluationCall {
  /** The calls that may give something else another time; undefined where there was none. */
  readonly recorded: RecordedCalls | undefined
}

/** What one decision is evaluated with: its own fixed time and its own memory of random values. */
export function newCall(options: NewCallOptions = {}): RecordingCall {
  return new DecisionCall(options)
}

/** Most decisions ask for neither the time nor a random value: make both when they do. */
class DecisionCall implements RecordingCall {
  readonly strictBuiltinErrors: boolean
  readonly isVerdict: boolean
  readonly slice: EvaluationSlice | undefined
  readonly cost: EvaluationCost | undefined
  readonly #nowMs: number
  readonly #asksOutside: boolean
  readonly #before: RecordedCalls | undefined
  readonly #print: ((line: string) => void) | undefined
  #context: DecisionContext | undefined

  constructor(options: NewCallOptions) {
    const { nowMs = Date.now(), strictBuiltinErrors = false, asksOutside = false } = options
    this.#nowMs = nowMs
    this.strictBuiltinErrors = strictBuiltinErrors
    this.isVerdict = options.isVerdict ?? false
    this.slice = options.slice
    this.cost = options.cost
    this.#before = options.recorded
    this.#print = options.print
    this.#asksOutside = asksOutside
  }

  get context(): DecisionContext {
    this.#context ??= {
      ...newContext(this.#nowMs, this.#before ?? (new Map() as RecordedCalls), this.#asksOutside),
      print: this.#print,
    }
    return this.#context
  }

  get recorded(): RecordedCalls | undefined {
    const memo = this.#context?.memo
    return memo === undefined || memo.size === 0 ? undefined : memo
  }
}

function newContext(nowMs: number, memo: RecordedCalls, asksOutside: boolean): DecisionContext {
  return {
    nowNs: BigInt(Math.trunc(nowMs)) * NS_PER_MS,
    memo,
    suspend: asksOutside
      ? (call) => {
          throw new AnswerMissing(call, memo)
        }
      : undefined,
  }
}
