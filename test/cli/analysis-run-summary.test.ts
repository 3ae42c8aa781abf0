import { describe, expect, test } from 'vitest'

import type { ShownRun } from '../../src/analysis/runs/show-run.js'
import { runSummary } from '../../src/analysis/runs/run-summary.js'

const PAGE = 'http://127.0.0.1:8181/analysis/17'

function runOf(more: object): ShownRun {
  return {
    ...{ id: 17, application: 'shop', state: 'COMPLETED', verdict: 'Fail', score: 0, errors: [] },
    ...{ message: 'critical: latency is High', intervalsDone: 3, intervalCount: 3, intervals: [] },
    ...more,
  } as unknown as ShownRun
}
const metric = (name: string, more: object) => ({
  ...{ name, muted: false, critical: false, score: 100, classification: 'Pass' },
  ...{ classificationReason: 'no change that matters', ...more },
})
const reportOf = (results: readonly object[], findings: readonly object[] = []) => ({
  report: { targets: [{ name: 'web', metrics: { results }, logs: { findings } }] },
})

describe('the summary of a run for a chat', () => {
  test('has the verdict, its reason, what is wrong with the worst first, and where the page is', () => {
    const results = [
      metric('cpu', {}),
      metric('errors', { classification: 'High', score: 20, classificationReason: '+80 %' }),
      metric('latency', { classification: 'High', score: 0, critical: true, classificationReason: '+300 %' }),
    ]
    const log = {
      isUnexpected: true,
      severity: 'error',
      template: 'no `route` to <*>',
      reason: 'new: 50 in the canary',
    }
    expect(runSummary(runOf(reportOf(results, [log])), PAGE)).toBe(
      [
        '❌ **shop: Fail** with 0 of 100 (analysis 17, interval 3 of 3)',
        '',
        'critical: latency is High',
        '',
        '- **latency** High, critical: +300 %',
        '- **errors** High: +80 %',
        "- log, error: `no 'route' to <*>`, new: 50 in the canary",
        '',
        `[the whole report](${PAGE})`,
        '',
      ].join('\n'),
    )
  })

  test('is short, however much is wrong', () => {
    const results = Array.from({ length: 30 }, (_, n) =>
      metric(`m${n}`, { classification: 'High', score: 10 }),
    )
    const lines = runSummary(runOf(reportOf(results)), PAGE).split('\n')
    expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(6)
    expect(lines).toContain('- and 25 more')
  })

  test('lets names of others format nothing and mention nobody', () => {
    const text = runSummary(
      runOf({ application: '**@here** <!x>', message: '[click](http://x)\n# big' }),
      PAGE,
    )
    expect(text).not.toContain('@here')
    expect(text).toContain(String.raw`\[click\](http://x) \# big`)
    expect(text).not.toContain('<!x>')
  })

  test('says of a run that goes on how far it is', () => {
    const run = runOf({
      state: 'RUNNING',
      verdict: undefined,
      score: undefined,
      intervalsDone: 1,
      message: '',
    })
    expect(runSummary(run, PAGE)).toMatch(
      /^⏳ \*\*shop: running\*\* \(analysis 17, interval 1 of 3, still running\)/,
    )
  })
})
