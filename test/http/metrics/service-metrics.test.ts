import { expect, test, vi } from 'vitest'

import { nopDecisionLog } from '../../../src/decisions/decision-log.js'
import type { DecisionLogStats } from '../../../src/decisions/decision-log.js'
import { addDecisionLogMetrics, makeServiceMetrics } from '../../../src/http/metrics/service-metrics.js'
import { addTrailMetrics } from '../../../src/http/metrics/trail-metrics.js'
import { Registry } from 'prom-client'

const STATS: DecisionLogStats = {
  written: 5,
  dropped: { buffer_full: 1, write_failed: 2, mask_failed: 3, detail_gave_way: 4, allow_gave_way: 5 },
  bufferedRows: 4,
  bufferedBytes: 400,
}

/** Returns the lines about Tidegate itself. */
async function linesOf(registry: Registry): Promise<string[]> {
  const text = await registry.metrics()
  return text.split('\n').filter((line) => line.startsWith('tidegate_'))
}

test('the metrics of the service are those of its parts, however often they are read', async () => {
  const metrics = makeServiceMetrics()
  addDecisionLogMetrics(metrics.registry, { ...nopDecisionLog, stats: () => STATS })
  metrics.evaluated('data', 'allow')
  metrics.evaluated('data', 'allow')
  metrics.evaluated('static', 'deny')
  metrics.policiesLoaded(1500)
  metrics.policyLoadFailed()
  metrics.messageAttempted('gate.callback', { state: 'delivered' })
  const expected = [
    'tidegate_evaluations_total{kind="data",outcome="allow"} 2',
    'tidegate_evaluations_total{kind="static",outcome="deny"} 1',
    'tidegate_policy_loads_total{result="success"} 1',
    'tidegate_policy_loads_total{result="failure"} 1',
    'tidegate_policy_load_duration_seconds 1.5',
    'tidegate_decision_log_written_total 5',
    'tidegate_decision_log_dropped_total{reason="allow_gave_way"} 5',
    'tidegate_decision_log_dropped_total{reason="buffer_full"} 1',
    'tidegate_decision_log_dropped_total{reason="detail_gave_way"} 4',
    'tidegate_decision_log_dropped_total{reason="write_failed"} 2',
    'tidegate_decision_log_dropped_total{reason="mask_failed"} 3',
    'tidegate_decision_log_buffered_rows 4',
    'tidegate_outbox_attempts_total{topic="gate.callback",state="delivered"} 1',
  ]
  await linesOf(metrics.registry)
  expect((await linesOf(metrics.registry)).toSorted()).toEqual(expected.toSorted())
})

test('those of the trail are, too', async () => {
  const registry = new Registry()
  addTrailMetrics(registry, {
    intake: () => ({ kept: 9, repeated: 1, refused: 2, failed: 3, waitingBytes: 77 }),
    decisions: () => ({ recorded: 6, omitted: { over_budget: 4 } as never }),
    unindexed: () => Promise.resolve(8),
    reconciliations: () => ({ last: { isDone: true, atMs: 0, durationMs: 2500 }, done: 10, failed: 11 }),
  })
  const expected = [
    'tidegate_events_total{result="kept"} 9',
    'tidegate_events_total{result="repeated"} 1',
    'tidegate_events_total{result="refused"} 2',
    'tidegate_events_total{result="failed"} 3',
    'tidegate_events_waiting_bytes 77',
    'tidegate_audit_records_unindexed 8',
    'tidegate_audit_decisions_total{result="recorded"} 6',
    'tidegate_audit_decisions_total{result="over_budget"} 4',
    'tidegate_reconciliations_total{result="success"} 10',
    'tidegate_reconciliations_total{result="failure"} 11',
    'tidegate_reconciliation_duration_seconds 2.5',
  ]
  await linesOf(registry)
  expect((await linesOf(registry)).toSorted()).toEqual(expected.toSorted())
})

test('durations of requests are counted into the buckets of OPA, by route, method and status', async () => {
  const { requested, registry } = makeServiceMetrics()
  const answered = (status: number, seconds: number): void => {
    const startedAt = -seconds * 1000
    requested({ startedAt, handler: 'v1/data', method: 'POST', status })
  }
  vi.spyOn(performance, 'now').mockReturnValue(0)
  for (const seconds of [0.0000005, 0.000001, 0.02, 7]) answered(200, seconds)
  answered(400, 0.1)
  vi.restoreAllMocks()
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('code="200"'))
  const labels = 'code="200",handler="v1/data",method="post"'
  const buckets = { '0.000001': 2, '0.01': 2, '0.1': 3, '1': 3, '+Inf': 4 }
  for (const [le, count] of Object.entries(buckets))
    expect(lines).toContain(`http_request_duration_seconds_bucket{le="${le}",${labels}} ${count}`)
  expect(lines).toContain(`http_request_duration_seconds_sum{${labels}} 7.0200015`)
  expect(lines).toContain(`http_request_duration_seconds_count{${labels}} 4`)
})
