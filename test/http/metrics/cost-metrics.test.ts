import { Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { makeCostMetrics } from '../../../src/http/metrics/evaluation-metrics.js'

test('the cost of evaluations is shown by package, of very many packages the rest together', async () => {
  const registry = new Registry()
  const spent = makeCostMetrics(registry)
  spent({ fuel: 1501, instancesReplaced: 2, packages: ['data.a', 'data.b'], packageFuel: [1500, 1] })
  for (let n = 0; n < 1000; n += 1)
    spent({ fuel: 5, instancesReplaced: 0, packages: [`data.p${n}`], packageFuel: [5] })
  const text = await registry.metrics()
  expect(text).toContain('tidegate_evaluation_fuel_bucket{le="1000",package="data.a"} 0')
  expect(text).toContain('tidegate_evaluation_fuel_bucket{le="10000",package="data.a"} 1')
  expect(text).toContain('tidegate_evaluation_fuel_sum{package="data.b"} 1')
  expect(text).toContain('tidegate_evaluator_instances_replaced_total 2')
  expect(text.match(/fuel_count\{/g)).toHaveLength(201)
  const others = /fuel_count\{package="\(others\)"\} (?<count>\d+)/.exec(text)?.groups?.['count']
  expect(others).toBe('802')
})

test('counts reported after a reset start from zero', async () => {
  const registry = new Registry()
  const spent = makeCostMetrics(registry)
  const cost = { fuel: 7, instancesReplaced: 0, packages: ['data.a'], packageFuel: [7] }
  spent(cost)
  registry.resetMetrics()
  spent(cost)
  const text = await registry.metrics()
  expect(text).toContain('tidegate_evaluation_fuel_count{package="data.a"} 1')
  expect(text).toContain('tidegate_evaluation_fuel_sum{package="data.a"} 7')
})

test('an expensive package among very many has a series of its own, wherever it is in the list', async () => {
  const registry = new Registry()
  const spent = makeCostMetrics(registry)
  const packages = Array.from({ length: 3000 }, (_, n) => `data.p${n}`)
  const packageFuel = packages.map((_, place) => (place === 2999 ? 50_000 : 10))
  spent({ fuel: 79_990, instancesReplaced: 0, packages, packageFuel })
  const text = await registry.metrics()
  expect(text).toContain('tidegate_evaluation_fuel_sum{package="data.p2999"} 50000')
  expect(text).toContain('tidegate_evaluation_fuel_sum{package="(others)"} 27990')
  expect(text.match(/fuel_count\{/g)).toHaveLength(202)
})
