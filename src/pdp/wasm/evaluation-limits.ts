/** What one evaluation may use; over it, the evaluation ends with `evaluation_budget_exceeded`. */
export interface EvaluationLimits {
  /** Loop iterations of the WASM code, whatever the size of the input. */
  readonly loopIterations: number
  /** Iterations granted on top for each byte of input, so that reading a large input is not an overrun. */
  readonly loopIterationsPerInputByte: number
  /** The most memory of one instance, in bytes. */
  readonly maxMemoryBytes: number
  /** An instance whose memory has grown past this many bytes is replaced after the evaluation. */
  readonly recycleMemoryBytes: number
}

const MIB = 1024 * 1024

/** Enough for any sensible policy over a body of 10 MiB, and about two seconds at the worst. */
export const DEFAULT_LIMITS: EvaluationLimits = {
  loopIterations: 200_000_000,
  loopIterationsPerInputByte: 100,
  maxMemoryBytes: 1024 * MIB,
  recycleMemoryBytes: 64 * MIB,
}
