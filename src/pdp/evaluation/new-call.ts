import type { EvaluationCost } from '../metering/evaluation-cost.js'
import type { EvaluationSlice } from '../wasm/evaluation-slice.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

const NS_PER_MS = 1_000_000n

export interface NewCallOptions {
  /** The time of the decision, in milliseconds since the epoch. */
  readonly nowMs?: number
  readonly strictBuiltinErrors?: boolean
  /** Where the evaluation may hold its thread only so long. */
  readonly slice?: EvaluationSlice
  readonly cost?: EvaluationCost | undefined
}

/** What one decision is evaluated with: its own fixed time and its own memory of random values. */
export function newCall(options: NewCallOptions = {}): EvaluationCall {
  const { nowMs = Date.now(), strictBuiltinErrors = false, slice, cost } = options
  return new DecisionCall(nowMs, strictBuiltinErrors, slice, cost)
}

/** Most decisions ask for neither the time nor a random value: make both when they do. */
class DecisionCall implements EvaluationCall {
  readonly strictBuiltinErrors: boolean
  readonly slice: EvaluationSlice | undefined
  readonly cost: EvaluationCost | undefined
  readonly #nowMs: number
  #context: EvaluationCall['context'] | undefined

  constructor(
    nowMs: number,
    strictBuiltinErrors: boolean,
    slice: EvaluationSlice | undefined,
    cost: EvaluationCost | undefined,
  ) {
    this.#nowMs = nowMs
    this.strictBuiltinErrors = strictBuiltinErrors
    this.slice = slice
    this.cost = cost
  }

  get context(): EvaluationCall['context'] {
    this.#context ??= { nowNs: BigInt(Math.trunc(this.#nowMs)) * NS_PER_MS, memo: new Map() }
    return this.#context
  }
}
