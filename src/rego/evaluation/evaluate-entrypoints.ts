import { AppError } from '../../errors/app-error.js'
import { composeDocument } from './compose-document.js'
import { evaluationError } from './evaluation-error.js'
import { packageOf } from './find-entrypoints.js'
import { parseRegoText } from '../values/parse-text.js'
import type { RegoValue } from '../values/value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import { AnswerMissing } from './answer-missing.js'
import { EvaluationAbort, describeFailure } from '../wasm/module/evaluation-abort.js'
import { SliceOver } from '../wasm/evaluation-budget.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/**
 * Evaluates an entrypoint with code in the module to Rego text, or undefined. Raises
 * `evaluation_failed` for a conflict, a strict built-in that fails, or an exceeded budget.
 */
export function evaluateEntrypoint(
  snapshot: Snapshot,
  entrypoint: Entrypoint,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): string | undefined {
  const { module, number } = entrypoint
  const text = withTypedErrors(snapshot, () => module.evaluate(number, input, call))
  call.cost?.attribute([packageOf(snapshot, entrypoint)])
  return text
}

/** Evaluates several entrypoints with one input, in order. Raises as `evaluateEntrypoint`. */
export function evaluateEntrypoints(
  snapshot: Snapshot,
  entrypoints: readonly Entrypoint[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
): (RegoValue | undefined)[] {
  const values = new Map<Entrypoint, RegoValue | undefined>()
  const asked = entrypoints.some(({ parts }) => parts !== undefined)
    ? entrypoints.flatMap((entrypoint) => entrypoint.parts?.rules ?? [entrypoint])
    : entrypoints
  for (const module of new Set(asked.map((entrypoint) => entrypoint.module))) {
    const own = asked.filter((entrypoint) => entrypoint.module === module)
    const numbers = own.map(({ number }) => number)
    withTypedErrors(snapshot, () => {
      const texts = module.evaluateAll(numbers, input, call)
      call.cost?.attribute(own.map((entrypoint) => packageOf(snapshot, entrypoint)))
      own.forEach((entrypoint, index) => values.set(entrypoint, toValue(texts[index])))
    })
  }
  return entrypoints.map((entrypoint) => {
    const { path, parts } = entrypoint
    if (parts === undefined) return values.get(entrypoint)
    return composeDocument(snapshot, path, parts, (rule) => values.get(rule), call)
  })
}

function toValue(text: string | undefined): RegoValue | undefined {
  return text === undefined ? undefined : parseRegoText(text)
}

/**
 * Runs an evaluation, or reads its values, and raises failures as AppErrors. A document nested too
 * deeply for the stack is `evaluation_budget_exceeded`. SliceOver and AnswerMissing pass through.
 */
export function withTypedErrors<T>(snapshot: Snapshot, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (raw) {
    if (raw instanceof SliceOver || raw instanceof AnswerMissing) throw raw
    if (raw instanceof EvaluationAbort) throw evaluationError(raw, snapshot)
    if (raw instanceof RangeError) throw evaluationError(describeFailure(raw), snapshot)
    throw raw instanceof AppError
      ? raw
      : new AppError('internal', 'the evaluation broke down', { cause: raw })
  }
}
