import type { DecisionContext } from '../builtins/shared/builtin.js'
import type { EvaluationCost } from '../metering/evaluation-cost.js'
import type { EvaluationSlice } from './evaluation-slice.js'

/** What one evaluation is called with beside its input. */
export interface EvaluationCall {
  readonly context: DecisionContext
  /** Whether a built-in that raises ends the evaluation instead of making its expression undefined. */
  readonly strictBuiltinErrors: boolean
  /** Whether the answer allows or denies something: errors then name the rule that failed. */
  readonly isVerdict: boolean
  /** Set where the evaluation may hold its thread only so long; over it, it ends by SliceOver. */
  readonly slice: EvaluationSlice | undefined
  /** Takes down what it takes, where somebody wants to know. */
  readonly cost?: EvaluationCost | undefined
}
