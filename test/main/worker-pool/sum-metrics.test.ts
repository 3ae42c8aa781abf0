import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { sumCounts, sumMetrics } from '../../../src/main/worker-pool/sum-metrics.js'
import type { MetricValues } from '../../../src/main/worker-pool/sum-metrics.js'

async function figures(count: number): Promise<MetricValues> {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'asked_total', help: 'h', labelNames: ['kind'], registers }).inc(
    { kind: 'data' },
    count,
  )
  new Histogram({ name: 'took_seconds', help: 'h', buckets: [1, 5], registers }).observe(count)
  new Gauge({ name: 'waiting', help: 'h', registers }).set(count)
  new Gauge({ name: 'start_seconds', help: 'h', aggregator: 'omit', registers }).set(count)
  return await registry.getMetricsAsJSON()
}

test('metrics of processes are added up, and those of a single process come from the first', async () => {
  const text = await sumMetrics(await figures(2), [await figures(3), await figures(4)]).metrics()
  expect(text).toContain('asked_total{kind="data"} 9')
  expect(text).toContain('took_seconds_bucket{le="1"} 0')
  expect(text).toContain('took_seconds_bucket{le="5"} 3')
  expect(text).toContain('took_seconds_sum 9')
  expect(text).toContain('took_seconds_count 3')
  expect(text).toContain('waiting 9')
  expect(text).toContain('start_seconds 2')
})

test('counts of ended processes are kept, but no state', async () => {
  const ended = await sumCounts([await figures(3), await figures(4)])
  const text = await sumMetrics(await figures(1), [ended]).metrics()
  expect(text).toContain('asked_total{kind="data"} 8')
  expect(text).toContain('waiting 1')
})
