import type { DecisionContext } from '../builtins/shared/builtin.js'
import type { EvaluationCost } from '../metering/evaluation-cost.js'
import type { EvaluationSlice } from './evaluation-budget.js'

/** The parameters of one evaluation other than its input. */
export interface EvaluationCall {
  readonly context: DecisionContext
  /** True if a built-in error ends the evaluation instead of making its expression undefined. */
  readonly strictBuiltinErrors: boolean
  /** True if the result allows or denies something. Errors then name the rule that failed. */
  readonly isVerdict: boolean
  /** Set if the time on this thread is limited; the evaluation then ends by SliceOver. */
  readonly slice: EvaluationSlice | undefined
  /** Collects the evaluation cost. */
  readonly cost?: EvaluationCost | undefined
}
