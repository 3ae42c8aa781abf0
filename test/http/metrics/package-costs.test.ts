import { Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { makeCostMetrics } from '../../../src/http/metrics/evaluation-metrics.js'
import { packageCosts } from '../../../src/http/metrics/package-costs.js'

test('the cost of a package is its share of all, with its mean and 99th percentile', async () => {
  const registry = new Registry()
  const spent = makeCostMetrics(registry)
  const add = (name: string, fuel: number): void =>
    spent({ fuel, instancesReplaced: 0, packages: [name], packageFuel: [fuel] })
  for (let n = 0; n < 99; n += 1) add('data.app.rules', 90)
  add('data.app.rules', 1090)
  add('data.other', 90_000_000)
  const costs = packageCosts(await registry.getMetricsAsJSON())
  const share = 10_000 / 90_010_000
  expect(costs.get('app.rules')).toEqual({ evaluations: 100, share, mean: 100, p99AtMost: 100 })
  expect(costs.get('other')).toMatchObject({ evaluations: 1, p99AtMost: undefined })
})

test('nothing has a cost before the first measured evaluation', async () => {
  const registry = new Registry()
  makeCostMetrics(registry)
  expect(packageCosts(await registry.getMetricsAsJSON()).size).toBe(0)
})
