import { expect, test } from 'vitest'

import { readMetricTemplate } from '../../../../src/analysis/runs/definitions/metric-template.js'
import { comparedSides } from '../../../../src/analysis/runs/intervals/compared-sides.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../../support/analyses.js'

const template = readMetricTemplate({ data: { groups: [{ group: 'load', metrics: [{ name: 'cpu' }] }] } })
const HOUR_MS = 60 * MINUTE_MS

function planOf(services: number) {
  const side = (version: string, startMs: number) => ({ scope: { version, token: 'password=abc' }, startMs })
  const sides = { baseline: side('stable', START_MS - 24 * HOUR_MS), canary: side('canary', START_MS) }
  const metrics = { source: 'prom', aggregate: undefined, ...template, ...sides }
  const targets = Array.from({ length: services }, (_, n) => ({ name: `s${n}`, metrics, logs: undefined }))
  return makeRunPlan({ timing: makeTiming({ lifetimeMs: HOUR_MS, intervalMs: HOUR_MS }), targets })
}

test('an interval names the scope and the window of both sides, without secrets', () => {
  const [compared] = comparedSides(planOf(1), 1)
  expect(compared).toMatchObject({
    ...{ name: 's0', part: 'metrics' },
    baseline: {
      scope: { version: 'stable' },
      startMs: START_MS - 24 * HOUR_MS,
      endMs: START_MS - 23 * HOUR_MS,
    },
    canary: { scope: { version: 'canary' }, startMs: START_MS, endMs: START_MS + HOUR_MS },
  })
  expect(JSON.stringify(compared)).not.toContain('abc')
})

test('of hundreds of services the first are named', () => {
  expect(comparedSides(planOf(100), 1)).toHaveLength(20)
})
