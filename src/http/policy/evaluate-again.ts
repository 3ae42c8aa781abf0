import { AppError, toAppError } from '../../errors/app-error.js'
import type { DecisionView } from '../../decisions/decision-view.js'
import type { DecisionOutcome } from '../../store/ports/decision-store.js'
import { selectPackages, textsOf, type Denial, type EvaluateOptions } from '../../rego/index.js'
import type { PolicyContext } from './decision.js'
import { planFor } from './plan-cache.js'

/** The answer of the current policies to the input of a stored decision. */
export interface AnswerAgain {
  readonly revision: string
  readonly outcome: DecisionOutcome
  /** JSON text; undefined for an undefined document and for an error. */
  readonly result: string | undefined
  readonly error: string | undefined
}

/**
 * Evaluates a stored decision with the current policies, at the time of the decision. Nothing is
 * recorded. Raises `invalid` if its input was not stored completely, or if it was an ad-hoc query.
 */
export async function evaluateAgain(
  {
    policies,
    evaluations,
    staticPackages,
  }: Pick<PolicyContext, 'policies' | 'evaluations' | 'staticPackages'>,
  { kind, path, time, input, inputPrefix, caller }: DecisionView,
): Promise<AnswerAgain> {
  if (kind === 'query') throw new AppError('invalid', 'An ad-hoc query cannot be evaluated again.')
  if (inputPrefix !== undefined) {
    throw new AppError('invalid', 'The input was stored in part, so it cannot be evaluated again.')
  }
  const snapshot = policies.current
  const bytes = input === undefined ? undefined : Buffer.from(input.text)
  const options: EvaluateOptions = { nowMs: Date.parse(time), caller }
  try {
    if (kind === 'data' || kind === 'default') {
      const result = await evaluations.document(planFor(snapshot, path), bytes, options)
      const outcome = result === undefined ? 'undefined' : 'defined'
      return { revision: snapshot.revision, outcome, result, error: undefined }
    }
    const denials =
      kind === 'static'
        ? await evaluations.static(snapshot, selectPackages(snapshot, staticPackages), bytes, options)
        : await evaluations.runtime(planFor(snapshot, path), bytes, options)
    return { revision: snapshot.revision, ...verdict(denials), error: undefined }
  } catch (raw) {
    const { message } = toAppError(raw)
    return { revision: snapshot.revision, outcome: 'error', result: undefined, error: message }
  }
}

function verdict(denials: readonly Denial[]): Pick<AnswerAgain, 'outcome' | 'result'> {
  return { outcome: denials.length === 0 ? 'allow' : 'deny', result: JSON.stringify(textsOf(denials)) }
}
