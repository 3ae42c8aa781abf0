import type { BuiltinTable } from '../builtins/shared/builtin.js'
import type { DataImage } from './data/data-image.js'

/** The limits of one evaluation. Exceeding one ends it with `evaluation_budget_exceeded`. */
export interface EvaluationLimits {
  /** Maximum of loop iterations and calls of the WASM code, whatever the size of the input. */
  readonly loopIterations: number
  /** Additional iterations per byte of input, for reading it. */
  readonly loopIterationsPerInputByte: number
  /** Maximum CPU time in milliseconds, checked periodically. */
  readonly maxDurationMs: number
  /** Maximum memory of one instance in bytes, in addition to the base documents. */
  readonly maxMemoryBytes: number
  /** Growth in bytes from which an instance is replaced once evaluations need less. */
  readonly recycleMemoryBytes: number
}

export interface PolicyModuleOptions {
  readonly builtins: BuiltinTable
  readonly limits: EvaluationLimits
  readonly data: DataImage
  /** True for a check that evaluates nothing; the kind of reader is not determined. */
  readonly isTrial?: boolean | undefined
}

/** Minimum time to read a byte of input, and to print a byte of a result, in milliseconds. */
export const READ_MS_PER_BYTE = 3e-6
export const SHOW_MS_PER_BYTE = 1e-4
/** Below these sizes the clock is not checked. */
export const SHORT_INPUT_BYTES = 262_144
export const SHORT_RESULT_BYTES = 16_384

/** Cost of reading, ordering and printing a byte of a result. */
export const RESULT_STEPS_PER_BYTE = 4
export const RESULT_HEAP_PER_BYTE = 10
