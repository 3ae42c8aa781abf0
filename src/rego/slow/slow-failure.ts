import { AppError, toAppError } from '../../errors/app-error.js'
import { evaluationError } from '../evaluation/evaluation-error.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { EvaluationAbort } from '../wasm/module/evaluation-abort.js'
import type { SlowFailure } from './messages.js'

/** Returns an error of a slow thread as plain data. */
export function packFailure(raw: unknown): SlowFailure {
  const error = toAppError(raw)
  const { kind, code, message, details, cause } = error
  if (cause instanceof EvaluationAbort) {
    return {
      type: 'abort',
      message: cause.message,
      isOverBudget: cause.isOverBudget,
      builtinError: cause.builtinError,
    }
  }
  const stack = kind === 'internal' && cause instanceof Error ? cause.stack : undefined
  return { type: 'error', kind, code, message, details, stack }
}

/** Returns the AppError that the evaluation would have raised in the thread with the snapshot. */
export function unpackFailure(failure: SlowFailure, snapshot: Snapshot): AppError {
  if (failure.type === 'error') {
    const { kind, message, code, details, stack } = failure
    return new AppError(kind, message, { code, details, cause: stack })
  }
  const { message, isOverBudget, builtinError } = failure
  return evaluationError(new EvaluationAbort(message, { ...builtinError, isOverBudget }), snapshot)
}
