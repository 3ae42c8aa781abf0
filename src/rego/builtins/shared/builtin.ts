import type { RegoValue } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import type { MissingCall, RecordedCalls } from './recorded-calls.js'

/**
 * A host built-in: takes values and returns one, or undefined if the call has no result. Throws
 * BuiltinError for invalid operands, which makes the calling expression undefined, or the decision
 * a 500 under strict-builtin-errors. If OPA would have succeeded, it ends the evaluation by the
 * context's meter instead.
 */
export type Builtin = (args: readonly RegoValue[], context: BuiltinContext) => RegoValue | undefined

export type BuiltinTable = Readonly<Record<string, Builtin>>

/** Built-ins, some of which need a library that is loaded on demand. */
export interface Builtins {
  readonly table: BuiltinTable
  /** Resolves when the built-ins of these names may be called. */
  readonly prepare: (names: readonly string[]) => Promise<void>
}

/** Receives calls of `sprintf` that mark the steps of an evaluation. */
export interface Tracer {
  /**
   * Counts a marker by its format. Returns `counted` if its values are known well enough, since
   * reading them takes most of the time, `record` if they must be recorded, and `other` for a call
   * of the policies.
   */
  readonly count: (format: string) => 'counted' | 'record' | 'other'
  /** Records the operands of a marker. */
  readonly record: (format: string, values: RegoValue) => void
}

/** State that all built-in calls of a decision share. */
export interface DecisionContext {
  /** The time of the decision, in nanoseconds since the epoch; constant within a decision. */
  readonly nowNs: bigint
  /** Results that are constant within a decision only (`rand.intn`, `http.send`). */
  readonly memo: RecordedCalls
  /** Ends the evaluation until this call's result is recorded; absent if unsupported. */
  readonly suspend?: ((call: MissingCall) => never) | undefined
  /** Receives a line that a policy prints; absent if output is discarded. */
  readonly print?: ((line: string) => void) | undefined
  /** Receives the markers of an explanation; absent for other evaluations. */
  readonly tracer?: Tracer | undefined
}

/** The context of a built-in call. */
export interface BuiltinContext extends DecisionContext {
  /** The remaining budget of the evaluation. */
  readonly meter: WorkMeter
}

/** OPA's error codes: a wrong operand type, or a failure of the built-in. */
export type BuiltinErrorCode = 'eval_builtin_error' | 'eval_type_error'

/** A failed built-in call, with OPA's message. The caller prefixes the name of the built-in. */
export class BuiltinError extends Error {
  readonly code: BuiltinErrorCode

  constructor(message: string, code: BuiltinErrorCode = 'eval_builtin_error') {
    super(message)
    this.name = 'BuiltinError'
    this.code = code
  }
}

/** Returns true if `check` throws no BuiltinError; rethrows other errors. */
export function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch (raw) {
    if (raw instanceof BuiltinError) return false
    throw raw
  }
}
