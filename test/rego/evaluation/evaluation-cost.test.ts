import { expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { EvaluationCost } from '../../../src/rego/metering/evaluation-cost.js'
import type { CostMeasurements } from '../../../src/rego/metering/evaluation-cost.js'
import { loadPolicies } from '../../support/load-policies.js'

const FILES = {
  'dear.rego':
    'package static.dear\n\nimport rego.v1\n\ndeny contains "no" if count([x | some x in numbers.range(1, input.n)]) == 0\n',
  'cheap.rego': 'package static.cheap\n\nimport rego.v1\n\ndeny contains "no" if input.n == 0\n',
}

test('a decision costs what its packages loop, the same each time', async () => {
  const snapshot = await loadPolicies(FILES)
  const ask = (n: number): CostMeasurements => {
    const cost = new EvaluationCost()
    const input = Buffer.from(JSON.stringify({ n }))
    evaluateStaticPolicies(snapshot, ['static/cheap', 'static/dear'], input, newCall({ nowMs: 0, cost }))
    return cost
  }
  const [few, many] = [ask(100), ask(10_000)]
  expect(few.packages).toEqual(['static.cheap', 'static.dear'])
  const [, dear = 0] = few.packageFuel
  const [cheap = 0, dearer = 0] = many.packageFuel
  expect(dearer).toBeGreaterThan(dear + 9900)
  expect(cheap).toBeLessThan(100)
  expect(many.fuel).toBe(cheap + dearer)
  expect(ask(10_000)).toEqual(many)
})

test('a rule is counted for its package, and that memory was set up again is told', async () => {
  const snapshot = await loadPolicies(FILES)
  const plan = planDocument(snapshot, ['static', 'dear', 'deny'])
  const cost = new EvaluationCost()
  evaluateDocument(plan, Buffer.from('{"n":5}'), newCall({ nowMs: 0, cost }))
  expect([cost.packages, cost.instancesReplaced]).toEqual([['static.dear'], 0])
})
