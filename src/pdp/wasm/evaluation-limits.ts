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
