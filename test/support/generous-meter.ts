import { EvaluationBudget } from '../../src/rego/wasm/evaluation-budget.js'
import type { WorkMeter } from '../../src/rego/metering/work-meter.js'
import { DEFAULT_LIMITS } from './default-limits.js'

/** What an evaluation has by default, for a built-in that is called without one. */
export function generousMeter(): WorkMeter {
  const budget = new EvaluationBudget(DEFAULT_LIMITS, { value: 0 })
  budget.start(0)
  return budget
}
