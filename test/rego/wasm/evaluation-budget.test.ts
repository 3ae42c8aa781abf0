import { describe, expect, it } from 'vitest'

import { EvaluationBudget, SLICE } from '../../../src/rego/wasm/evaluation-budget.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'

/** Refuels like a module and counts the iterations until it is stopped. */
function iterationsUntilStopped(
  budget: EvaluationBudget,
  gauge: { value: number },
  onSlice: () => unknown = () => undefined,
): number {
  let total = 0
  try {
    for (;;) {
      total += gauge.value
      onSlice()
      budget.refuel()
    }
  } catch {
    return total
  }
}

describe('the budget of an evaluation', () => {
  it('grants all iterations including those for the input, and at most one portion more', () => {
    const gauge = { value: SLICE }
    const limits = { ...DEFAULT_LIMITS, loopIterations: 200_000, loopIterationsPerInputByte: 10 }
    const budget = new EvaluationBudget(limits, gauge)
    budget.start(1000)
    expect(iterationsUntilStopped(budget, gauge)).toBe(210_000 + SLICE)
    gauge.value = 1
    budget.start(0)
    expect(iterationsUntilStopped(budget, gauge)).toBe(200_001)
  })

  it('stops an evaluation with slow iterations and reports the limit', () => {
    const gauge = { value: 0 }
    let nowMs = 1000
    const budget = new EvaluationBudget({ ...DEFAULT_LIMITS, maxDurationMs: 50 }, gauge, () => nowMs)
    budget.start(0)
    const passed = iterationsUntilStopped(budget, gauge, () => (nowMs += 20))
    expect(passed).toBeLessThan(DEFAULT_LIMITS.loopIterations)
    expect(() => budget.refuel()).toThrow('longer than 50 ms')
  })
})
