import { toError } from '../../errors.js'
import type { BuiltinErrorCode } from '../builtins/builtin.js'

export interface EvaluationAbortOptions {
  readonly code?: BuiltinErrorCode
  readonly builtin?: string
  readonly isOverBudget?: boolean
  readonly cause?: unknown
}

/** An evaluation that ended without a result. The message is the module's own text, or the built-in's. */
export class EvaluationAbort extends Error {
  /** Set when a built-in failed under strict-builtin-errors. */
  readonly builtinError: { readonly code: BuiltinErrorCode; readonly builtin: string } | undefined
  readonly isOverBudget: boolean

  constructor(message: string, options: EvaluationAbortOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EvaluationAbort'
    const { code, builtin } = options
    this.builtinError = code !== undefined && builtin !== undefined ? { code, builtin } : undefined
    this.isOverBudget = options.isOverBudget ?? false
  }
}

/** Tells what a throw out of a module means: our own abort, an exhausted memory or stack, or a trap. */
export function describeFailure(raw: unknown): EvaluationAbort {
  if (raw instanceof EvaluationAbort) {
    return isOutOfMemory(raw.message)
      ? new EvaluationAbort('out of memory', { isOverBudget: true, cause: raw })
      : raw
  }
  const error = toError(raw)
  // V8 raises a RangeError when the native stack is full, as for an input nested thousands deep.
  if (error instanceof RangeError)
    return new EvaluationAbort('stack exhausted', { isOverBudget: true, cause: raw })
  return new EvaluationAbort(error.message, { cause: raw })
}

/** The text of the module's allocator when the memory cannot grow (OPA's wasm runtime, malloc.c). */
function isOutOfMemory(message: string): boolean {
  return message.includes('opa_malloc')
}
