import type { RegoValue } from '../../values/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import type { MissingCall, RecordedCalls } from './recorded-calls.js'

/**
 * A host built-in: values in, one value out, or undefined when the call has no result. Raises BuiltinError on bad
 * operands, which makes the calling expression undefined, or the decision a 500 under strict-builtin-errors. Where OPA would have
 * gone on, it ends the evaluation by the context's meter instead.
 */
export type Builtin = (args: readonly RegoValue[], context: BuiltinContext) => RegoValue | undefined

/** Built-ins by the name that Rego calls them by. */
export type BuiltinTable = Readonly<Record<string, Builtin>>

/** Built-ins of which some need a library that is loaded only for the policies that call them. */
export interface Builtins {
  readonly table: BuiltinTable
  /** Resolves when the built-ins of these names may be called. */
  readonly prepare: (names: readonly string[]) => Promise<void>
}

/** What one decision shares between all the built-in calls it makes. */
export interface DecisionContext {
  /** The time of the decision, in nanoseconds since the epoch: one value however often it is asked for. */
  readonly nowNs: bigint
  /** Calls whose results must not change within a decision (`rand.intn`, `http.send`), and which may be others in the next. */
  readonly memo: RecordedCalls
  /** Ends the evaluation, which is made again once what this call gives is known and recorded; absent where nobody finds out. */
  readonly ask?: ((call: MissingCall) => never) | undefined
  /** Takes a line that a policy prints; absent where nobody reads it. */
  readonly print?: ((line: string) => void) | undefined
}

/** What a built-in is called with beside its operands. */
export interface BuiltinContext extends DecisionContext {
  /** What the evaluation has left. */
  readonly meter: WorkMeter
}

/** Codes as in OPA's answer: a wrong operand type, or a failure of the built-in itself. */
export type BuiltinErrorCode = 'eval_builtin_error' | 'eval_type_error'

/** A built-in call that failed. The message is OPA's without the name of the built-in, which the caller puts before it. */
export class BuiltinError extends Error {
  readonly code: BuiltinErrorCode

  constructor(message: string, code: BuiltinErrorCode = 'eval_builtin_error') {
    super(message)
    this.name = 'BuiltinError'
    this.code = code
  }
}

/** Whether a check raises no BuiltinError; whatever else it raises goes on. */
export function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch (raw) {
    if (raw instanceof BuiltinError) return false
    throw raw
  }
}
