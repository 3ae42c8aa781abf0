import { toError } from '../../../errors/app-error.js'
import type { BuiltinErrorCode } from '../../builtins/shared/builtin.js'

/** What a module aborts with, behind a place, where two rules give one key of an object; without a place where a rule finds another's value there. */
export const INSERT_CONFLICT = 'object insert conflict'

export interface EvaluationAbortOptions {
  readonly code?: BuiltinErrorCode
  readonly builtin?: string
  readonly caller?: Caller | undefined
  readonly isVerdict?: boolean
  readonly isOverBudget?: boolean
  readonly cause?: unknown
}

/** Which of a rule's calls of one built-in it was, in the order of the code. */
export interface Caller {
  /** The path of the rule below `data`, as far as it is fixed. */
  readonly rule: readonly string[]
  /** Counted from 0. */
  readonly nth: number
  /** How many calls of that built-in the rule has. */
  readonly count: number
}

/** A built-in that failed, and who called it as far as that is known. */
export interface FailedCall {
  readonly code: BuiltinErrorCode
  readonly builtin: string
  readonly caller?: Caller | undefined
  /** Whether it was called for a verdict. */
  readonly isVerdict: boolean
}

/** An evaluation that ended without a result. The message is the module's own text, or the built-in's. */
export class EvaluationAbort extends Error {
  /** Set when a built-in failed under strict-builtin-errors. */
  readonly builtinError: FailedCall | undefined
  readonly isOverBudget: boolean

  constructor(message: string, options: EvaluationAbortOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EvaluationAbort'
    const { code, builtin, caller, isVerdict = false } = options
    this.builtinError =
      code !== undefined && builtin !== undefined ? { code, builtin, caller, isVerdict } : undefined
    this.isOverBudget = options.isOverBudget ?? false
  }
}

/**
 * Tells what a throw out of a module means: our own abort, an exhausted memory or stack, or a trap. `exhausted` names what the module
 * has used up: a trap then follows from that, since much of the runtime does not look whether it got what it asked for.
 */
export function describeFailure(raw: unknown, exhausted?: 'memory' | 'stack'): EvaluationAbort {
  if (raw instanceof EvaluationAbort) {
    const limit = limitOf(raw.message)
    return limit === undefined ? raw : new EvaluationAbort(limit, { isOverBudget: true, cause: raw })
  }
  const error = toError(raw)
  // A trap: WebAssembly.RuntimeError.
  if (error.name === 'RuntimeError' && exhausted !== undefined) {
    const reason = exhausted === 'memory' ? 'out of memory' : 'stack exhausted'
    return new EvaluationAbort(reason, { isOverBudget: true, cause: raw })
  }
  // V8 raises a RangeError when the native stack is full, as for an input nested thousands deep.
  if (error instanceof RangeError)
    return new EvaluationAbort('stack exhausted', { isOverBudget: true, cause: raw })
  return new EvaluationAbort(error.message, { cause: raw })
}

/** What the runtime aborts with (OPA's wasm/src) at limits that OPA itself does not have. */
const LIMITS: readonly (readonly [text: RegExp, reason: string])[] = [
  [/opa_malloc: failed/, 'out of memory'],
  [
    /opa_(?:number_to_bf|arith_\w+|numbers_range|bits\w*):|strings: (?:truncate|get uint)/,
    'a number is too large or too small to be calculated with',
  ],
]

function limitOf(message: string): string | undefined {
  return LIMITS.find(([text]) => text.test(message))?.[1]
}
