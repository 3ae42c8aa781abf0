import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { INSERT_CONFLICT } from '../wasm/module/evaluation-abort.js'
import type { EvaluationAbort, FailedCall } from '../wasm/module/evaluation-abort.js'

/** OPA's message for failed evaluations. The details are in `errors`. */
const MESSAGE = 'error(s) occurred while evaluating query'

/** The code of an exceeded time, work or memory limit. */
export const OVER_BUDGET = 'evaluation_budget_exceeded'

/** The message of an aborted module: `file.rego:9:1: var assignment conflict`. */
const LOCATED = /^(?<file>.+?):(?<row>\d+):(?<col>\d+): (?<text>.*)$/s
type Sources = Pick<Snapshot, 'locateSource' | 'locateBuiltin'>

const FUNCTION_HEAD = /^\s*(?:default\s+)?[\w.]+\s*\(/

/** Returns the error for an evaluation without a result: status 500 in OPA's format. */
export function evaluationError(abort: EvaluationAbort, snapshot: Sources): AppError {
  if (abort.isOverBudget) return budgetError(abort)
  const details = [
    abort.builtinError === undefined
      ? conflictDetail(abort.message, snapshot)
      : builtinDetail(abort.message, abort.builtinError, snapshot),
  ]
  const code = abort.builtinError?.isVerdict === true ? { code: 'evaluation_failed' } : {}
  return new AppError('evaluation_failed', messageOf(abort), { details, cause: abort, ...code })
}

/** Clients of verdicts show the message only, without details. */
function messageOf({ message, builtinError }: EvaluationAbort): string {
  if (builtinError?.isVerdict !== true) return MESSAGE
  const { caller } = builtinError
  const rule = caller === undefined ? 'a rule' : printDataRef(caller.rule)
  return `no verdict: a built-in function fails in ${rule}: ${message}. Check the types of its arguments, for example with is_string or is_number.`
}

function budgetError(abort: EvaluationAbort): AppError {
  return new AppError(
    'evaluation_failed',
    `the evaluation was stopped: ${abort.message}. Make the policy or the input smaller, or raise policies.limits.`,
    { code: OVER_BUDGET, cause: abort },
  )
}

function builtinDetail(
  message: string,
  { code, builtin, caller }: FailedCall,
  { locateBuiltin }: Sources,
): ErrorDetail {
  const location = locateBuiltin(builtin, caller)
  return location === undefined ? { code, message } : { code, message, location }
}

function conflictDetail(message: string, { locateSource }: Sources): ErrorDetail {
  const groups = LOCATED.exec(message)?.groups
  if (groups === undefined)
    return message === INSERT_CONFLICT
      ? { code: 'eval_conflict_error', message: 'object keys must be unique' }
      : { code: 'eval_internal_error', message }
  const { file = '', row = '0', col = '0', text = '' } = groups
  const source = locateSource(file, Number(row))
  const location = { file: source.file, row: Number(row), col: Number(col) }
  const code = text.endsWith('conflict') ? 'eval_conflict_error' : 'eval_internal_error'
  return { code, message: conflictText(text, source.head), location }
}

/**
 * The module has one message for rules and functions. The first line of the definition shows which
 * it was.
 */
function conflictText(text: string, head: string | undefined): string {
  if (text === INSERT_CONFLICT) return 'object keys must be unique'
  if (text !== 'var assignment conflict') return text
  return head !== undefined && FUNCTION_HEAD.test(head)
    ? 'functions must not produce multiple outputs for same inputs'
    : 'complete rules must not produce multiple outputs'
}

/** Returns the error for a path or packages without a verdict. This is never an allow. */
export function undefinedPolicy(message: string): AppError {
  return new AppError('evaluation_failed', message, { code: 'undefined_policy' })
}
