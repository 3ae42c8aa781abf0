/** What one evaluation may use; over it, the evaluation ends with `evaluation_budget_exceeded`. */
export interface EvaluationLimits {
  /** Loop iterations of the WASM code, whatever the size of the input. */
  readonly loopIterations: number
  /** Iterations granted on top for each byte of input, so that reading a large input is not an overrun. */
  readonly loopIterationsPerInputByte: number
  /** The longest that it may take, in milliseconds; looked at now and then while it runs. */
  readonly maxDurationMs: number
  /** The most memory of one instance, in bytes. */
  readonly maxMemoryBytes: number
  /** An instance whose memory has grown past this many bytes is replaced after the evaluation. */
  readonly recycleMemoryBytes: number
}

const MIB = 1024 * 1024

/** Enough for any sensible policy over a body of 10 MiB. */
export const DEFAULT_LIMITS: EvaluationLimits = {
  loopIterations: 200_000_000,
  loopIterationsPerInputByte: 100,
  maxDurationMs: 2000,
  maxMemoryBytes: 512 * MIB,
  recycleMemoryBytes: 64 * MIB,
}
