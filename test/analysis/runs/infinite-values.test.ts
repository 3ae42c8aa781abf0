import { expect, test } from 'vitest'

import { readCanaryGroups } from '../../../src/analysis/runs/definitions/canary-groups.js'
import type { RunPlan } from '../../../src/analysis/runs/definitions/plan.js'
import { evaluateInterval } from '../../../src/analysis/runs/evaluate-interval.js'
import { seriesAnswer } from '../../../src/analysis/sources/answers/series-answer.js'
import { SeriesBuilder } from '../../../src/analysis/sources/answers/series-builder.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../support/analyses.js'
import { makeFakeSources } from '../../support/fake-sources.js'

const POINTS = 60

function planOf(settings: object): RunPlan {
  const groups = readCanaryGroups({
    metrics: [
      {
        name: 'latency',
        query: { customInlineTemplate: 'latency ${version}' },
        analysisConfigurations: { canary: { direction: 'increase', ...settings } },
      },
    ],
  })
  const side = (version: string) => ({ scope: { version }, startMs: START_MS })
  const sides = { baseline: side('stable'), canary: side('canary') }
  const metrics = { source: 'metrics', aggregate: undefined, ...groups, ...sides }
  const timing = makeTiming({ lifetimeMs: POINTS * MINUTE_MS, intervalMs: POINTS * MINUTE_MS })
  return makeRunPlan({ timing, targets: [{ name: 'shop', metrics, logs: undefined }] })
}

/**
 * The verdict if this number of points of each side, the last ones, is infinite and all others are
 * alike.
 */
async function verdictOf(infinite: Record<'stable' | 'canary', number>, settings: object = {}) {
  const sources = makeFakeSources(({ scope }) => {
    const grid = { startMs: START_MS, stepMs: MINUTE_MS, count: POINTS }
    const builder = new SeriesBuilder(grid, undefined)
    const finite = POINTS - infinite[scope['version'] === 'canary' ? 'canary' : 'stable']
    for (let step = 0; step < POINTS; step++) {
      builder.add(step, step < finite ? 100 + ((step * 7) % 5) : Infinity, START_MS + step * MINUTE_MS)
    }
    return seriesAnswer({ query: 'latency', grid, builder, truncatedPoints: 0, gaps: [], warnings: [] })
  })
  const request = { runId: 1, plan: planOf(settings), interval: 1, seenLogTemplates: [] }
  const { report } = await evaluateInterval(request, sources, () => START_MS)
  return report
}

test.each([
  ['the canary has many more', { stable: 0, canary: 20 }, {}, 'Review'],
  ['the canary has one', { stable: 0, canary: 1 }, {}, 'Review'],
  ['the canary has more and gaps are zeros', { stable: 5, canary: 20 }, { nanStrategy: 'replace' }, 'Review'],
  ['the canary of a critical metric has more', { stable: 0, canary: 20 }, { critical: true }, 'Fail'],
  ['both sides have as many', { stable: 20, canary: 20 }, {}, 'Success'],
  ['no side has any', { stable: 0, canary: 0 }, {}, 'Success'],
])(
  'where %s infinite values, the metric cannot pass by what is left: %#',
  async (_, infinite, settings, verdict) => {
    const report = await verdictOf(infinite, settings)
    expect(report.verdict).toBe(verdict)
    const reason = JSON.stringify(report.targets)
    if (verdict === 'Success') expect(reason).not.toContain('infinite')
    else expect(reason).toContain(`${infinite.canary} of 60 values of the canary are infinite`)
  },
)
