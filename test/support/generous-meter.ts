import { EvaluationBudget } from '../../src/rego/wasm/evaluation-budget.js'
import type { WorkMeter } from '../../src/rego/metering/work-meter.js'
import { DEFAULT_LIMITS } from './default-limits.js'

/** The default budget of an evaluation, for a built-in that is called directly. */
export function generousMeter(): WorkMeter {
  const budget = new EvaluationBudget(DEFAULT_LIMITS, { value: 0 })
  budget.start(0)
  return budget
}
