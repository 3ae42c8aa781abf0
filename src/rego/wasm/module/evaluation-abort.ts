import { toError } from '../../../errors/app-error.js'
import { cutText } from '../../../lib/text/shown-text.js'
import type { BuiltinErrorCode } from '../../builtins/shared/builtin.js'

/**
 * The module's abort message, after a location, if two rules define one key of an object; without a
 * location if a rule finds another rule's value.
 */
export const INSERT_CONFLICT = 'object insert conflict'

/** Maximum length of a message. Built-ins quote their operands, which can be megabytes long. */
const MAX_CHARACTERS = 10_000

export interface EvaluationAbortOptions {
  readonly code?: BuiltinErrorCode
  readonly builtin?: string
  readonly caller?: Caller | undefined
  readonly isVerdict?: boolean
  readonly isOverBudget?: boolean
  readonly cause?: unknown
}

/** One of a rule's calls of a built-in, in the order of the code. */
export interface Caller {
  /** The path of the rule below `data`, as far as it is static. */
  readonly rule: readonly string[]
  readonly nth: number
  readonly count: number
}

/** A failed built-in call and its caller, if known. */
export interface FailedCall {
  readonly code: BuiltinErrorCode
  readonly builtin: string
  readonly caller?: Caller | undefined
  /** True if the evaluation was for a verdict. */
  readonly isVerdict: boolean
}

/** An evaluation that ended without a result. The message comes from the module or the built-in. */
export class EvaluationAbort extends Error {
  /** Set if a built-in failed under strict-builtin-errors. */
  readonly builtinError: FailedCall | undefined
  readonly isOverBudget: boolean

  constructor(message: string, options: EvaluationAbortOptions = {}) {
    super(
      cutText(message, MAX_CHARACTERS),
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'EvaluationAbort'
    const { code, builtin, caller, isVerdict = false } = options
    this.builtinError =
      code !== undefined && builtin !== undefined ? { code, builtin, caller, isVerdict } : undefined
    this.isOverBudget = options.isOverBudget ?? false
  }
}

/**
 * Translates an exception from a module: an abort, exhausted memory or stack, or a trap.
 * `exhausted` names the resource that the module used up; a trap is then its consequence, because
 * much of the runtime does not check its allocations.
 */
export function describeFailure(raw: unknown, exhausted?: 'memory' | 'stack'): EvaluationAbort {
  if (raw instanceof EvaluationAbort) {
    const limit = limitOf(raw.message)
    return limit === undefined ? raw : new EvaluationAbort(limit, { isOverBudget: true, cause: raw })
  }
  const error = toError(raw)
  if (error.name === 'RuntimeError' && exhausted !== undefined) {
    const reason = exhausted === 'memory' ? 'out of memory' : 'stack exhausted'
    return new EvaluationAbort(reason, { isOverBudget: true, cause: raw })
  }
  // V8 throws a RangeError when the native stack is full, for example for an input nested thousands
  // of levels deep.
  if (error instanceof RangeError)
    return new EvaluationAbort('stack exhausted', { isOverBudget: true, cause: raw })
  return new EvaluationAbort(error.message, { cause: raw })
}

/** Abort messages of the runtime (OPA's wasm/src) for limits that OPA itself does not have. */
const LIMITS: readonly (readonly [text: RegExp, reason: string])[] = [
  [/opa_malloc: failed/, 'out of memory'],
  [
    /opa_(?:number_to_bf|arith_\w+|numbers_range|bits\w*):|strings: (?:truncate|get uint)/,
    'a number is too large or too small for arithmetic',
  ],
]

function limitOf(message: string): string | undefined {
  return LIMITS.find(([text]) => text.test(message))?.[1]
}
