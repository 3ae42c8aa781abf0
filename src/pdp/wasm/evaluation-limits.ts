import type { BuiltinTable } from '../builtins/shared/builtin.js'
import type { DataImage } from './data/data-image.js'

/** What one evaluation may use; over it, the evaluation ends with `evaluation_budget_exceeded`. */
export interface EvaluationLimits {
  /** Loop iterations of the WASM code, whatever the size of the input. */
  readonly loopIterations: number
  /** Iterations granted on top for each byte of input, so that reading a large input is not an overrun. */
  readonly loopIterationsPerInputByte: number
  /** The longest that it may take, in milliseconds; looked at now and then while it runs. */
  readonly maxDurationMs: number
  /** The most memory of one instance beside the base documents, in bytes. */
  readonly maxMemoryBytes: number
  /** An instance whose memory has grown past this many bytes is replaced when evaluations no longer need so much. */
  readonly recycleMemoryBytes: number
}

/** What a policy module is loaded with. */
export interface PolicyModuleOptions {
  /** The built-ins that the host gives to the module, by name. */
  readonly builtins: BuiltinTable
  readonly limits: EvaluationLimits
  /** The base documents (`data`). */
  readonly data: DataImage
}
