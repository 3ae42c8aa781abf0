import type { BuiltinTable } from '../builtins/shared/builtin.js'
import type { DataImage } from './data/data-image.js'

/** What one evaluation may use; over it, the evaluation ends with `evaluation_budget_exceeded`. */
export interface EvaluationLimits {
  /** Loop iterations and calls of the WASM code, whatever the size of the input. */
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
  /** Whether nothing is evaluated, and it is only to be seen that it loads: then it need not be found out how inputs are read. */
  readonly isTrial?: boolean | undefined
}

/** What reading a byte of input takes at least, in milliseconds, and a byte of a result. */
export const READ_MS_PER_BYTE = 3e-6
export const SHOW_MS_PER_BYTE = 1e-4
/** Shorter ones are not worth a look at the clock. */
export const SHORT_INPUT_BYTES = 262_144
export const SHORT_RESULT_BYTES = 16_384

/** What a byte of a result costs, which is read, put in order and printed in the end. */
export const RESULT_STEPS_PER_BYTE = 4
export const RESULT_HEAP_PER_BYTE = 10
