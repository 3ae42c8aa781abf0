import { AppError } from '../../errors/app-error.js'
import { evaluationError } from './evaluation-error.js'
import { parseRegoText } from '../rego/parse-text.js'
import type { RegoValue } from '../rego/value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import { EvaluationAbort, describeFailure } from '../wasm/module/evaluation-abort.js'
import { SliceOver } from '../wasm/evaluation-slice.js'
import type { EvaluationCall } from '../wasm/policy-instance.js'

const RESULT_START = '{{"result":'
const RESULT_END = '}}'

/**
 * The value of an entrypoint as Rego text, or undefined. Raises `evaluation_failed` when the policy conflicts, a
 * strict built-in fails or the budget ends.
 */
export function evaluateEntrypoint(
  snapshot: Snapshot,
  { module, number }: Entrypoint,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): string | undefined {
  return withTypedErrors(snapshot, () => resultText(module.evaluate(number, input, call)))
}

/** The values of several entrypoints over one input, in their order. Raises as `evaluateEntrypoint`. */
export function evaluateEntrypoints(
  snapshot: Snapshot,
  entrypoints: readonly Entrypoint[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
): (RegoValue | undefined)[] {
  const values = new Map<Entrypoint, RegoValue | undefined>()
  for (const module of new Set(entrypoints.map((entrypoint) => entrypoint.module))) {
    const own = entrypoints.filter((entrypoint) => entrypoint.module === module)
    const numbers = own.map(({ number }) => number)
    const resultSets = withTypedErrors(snapshot, () => module.evaluateAll(numbers, input, call))
    own.forEach((entrypoint, index) =>
      values.set(
        entrypoint,
        withTypedErrors(snapshot, () => toValue(resultSets[index])),
      ),
    )
  }
  return entrypoints.map((entrypoint) => values.get(entrypoint))
}

function toValue(resultSet: string | undefined): RegoValue | undefined {
  const text = resultSet === undefined ? undefined : resultText(resultSet)
  return text === undefined ? undefined : parseRegoText(text)
}

function resultText(resultSet: string): string | undefined {
  if (!resultSet.startsWith(RESULT_START)) return undefined
  return resultSet.slice(RESULT_START.length, -RESULT_END.length)
}

/**
 * Runs an evaluation, or reads its values, and raises every failure as an AppError. A document nested too deeply for the
 * stack is `evaluation_budget_exceeded`. A SliceOver stays one.
 */
export function withTypedErrors<T>(snapshot: Snapshot, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (raw) {
    if (raw instanceof SliceOver) throw raw
    if (raw instanceof EvaluationAbort) throw evaluationError(raw, snapshot)
    if (raw instanceof RangeError) throw evaluationError(describeFailure(raw), snapshot)
    throw raw instanceof AppError
      ? raw
      : new AppError('internal', 'the evaluation broke down', { cause: raw })
  }
}
