import { expect, test } from 'vitest'

import type { JudgeReport, MetricResult } from '../../../src/canary/judge/series/types.js'
import { MINUTE_MS, START_MS, storeRun } from '../../support/analyses.js'
import { runToEnd, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import type { TestRunner } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

async function scheduled(store: TestStore, { runner }: TestRunner): Promise<number> {
  const id = await storeRun(store.writer)
  runner.schedule({ id, application: 'shop', dueMs: START_MS + 10 * MINUTE_MS })
  return id
}

test('a run is told how far both sides of each metric lay apart at the ends of earlier runs', async () => {
  const store = await openStore()
  const changes = [0.01, -0.03, 0.02, 0.5, -0.04]
  const made = makeRunner(store, {
    evaluateInterval: (request) => {
      const relative = { estimate: changes[request.runId - 1] ?? 0, interval: [0, 0] }
      const result = { name: 'latency', finding: { relative } } as unknown as MetricResult
      const metrics = { results: [result] } as unknown as JudgeReport
      return Promise.resolve(taken(request, { targets: [{ name: 'web', metrics, logs: undefined }] }))
    },
  })
  await made.runner.start()
  for (let run = 0; run <= changes.length; run += 1) {
    made.clock.moveTo(START_MS)
    await runToEnd(store, await scheduled(store, made), made)
  }
  // The median of the sizes as a standard deviation. One worse release does not change it.
  expect(made.requests.at(-1)?.usualSpreads).toEqual([
    { target: 'web', metric: 'latency', runs: 5, deviation: expect.closeTo(0.0445, 4) as number },
  ])
  expect(made.requests[0]?.usualSpreads).toEqual([])
})
