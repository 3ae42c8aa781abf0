import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FILE_ANALYSIS, analysisIn } from '../support/file-analysis.js'
import { latencies } from '../support/analysis-files.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const THREE_DAYS = 3 * 1440
const gone = {
  ...FILE_ANALYSIS,
  metrics: {
    source: 'files',
    canaryConfig: {
      metrics: [{ name: 'gone', groups: ['a'], query: { customInlineTemplate: 'none.csv#latency' } }],
    },
  },
}
const withMargin = (margin: number): object => {
  const [metric] = FILE_ANALYSIS.metrics.canaryConfig.metrics
  const analysisConfigurations = { canary: { direction: 'increase', margin } }
  const canaryConfig = { metrics: [{ ...metric, analysisConfigurations }] }
  return { ...FILE_ANALYSIS, lifetimeMinutes: 10, metrics: { source: 'files', canaryConfig } }
}
const workspace = makeWorkspace({
  'policies/release.rego': 'package release\n\nallow := true\n',
  'data/stable.csv': latencies(100, THREE_DAYS),
  'definitions/shop.json': JSON.stringify({ ...FILE_ANALYSIS, lifetimeMinutes: 30 }),
  'definitions/short.json': JSON.stringify(withMargin(0.001)),
  'definitions/gone.json': JSON.stringify(gone),
  'definitions/logs.json': JSON.stringify({ logs: { source: 'files', query: 'app.log' } }),
})
let tidegate: TidegateProcess
beforeAll(async () => {
  tidegate = await startTidegate({ workspace, config: { analysis: analysisIn(workspace.path) } })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const run = (...args: readonly string[]): Promise<ProgramRun> =>
  runTidegate(['analysis', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })

describe('tidegate analysis backtest', () => {
  test('shows false alarms and finds of each metric in the past, and stores nothing', async () => {
    const { exitCode, stdout } = await run('backtest', 'shop', '--days', '2', '--windows', '3')
    expect(stdout).toContain('shop, the baseline against itself: runs of 30 minutes in the last 2 days\n')
    expect(stdout).toContain('Unchanged: 6 Success, 0 Review, 0 Fail\n')
    // Only a rise is harm, so a fall is not tested.
    expect(stdout).toMatch(/\nlatency +6 +0 % +0 %( +100 % \/ 0 %){3} +– +every other point\n/)
    expect(exitCode).toBe(0)
    expect((await run('list')).stdout).toBe('no analyses\n')
  })

  test('prints counts as JSON', async () => {
    const { stdout } = await run('backtest', 'shop', '--days', '1', '--windows', '2', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ application: 'shop', days: 1, lifetimeMinutes: 30, verdicts: { Success: 2 } },
      metrics: [
        {
          name: 'latency',
          pairings: ['points'],
          unchanged: { judged: 2, failed: 0, reviews: 0 },
          changes: { 'x1.5': { judged: 2, failed: 2, reviews: 0 } },
        },
      ],
    })
  })

  test('shows why nothing could be judged, and exits with 1', async () => {
    const { exitCode, stdout } = await run('backtest', 'gone', '--days', '1')
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/\ngone +0 +– +– +– +– +– +– +–\n/)
    expect(stdout).toContain('\nWindows that could not be judged:\n  gone: ')
  })

  test('refuses a definition without metrics', async () => {
    const { exitCode, stderr } = await run('backtest', 'logs', '--days', '1')
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('the analysis of logs has no metrics, and logs are not tested')
  })
})

describe('tidegate analysis plan', () => {
  test('shows the minutes for each change, and none for one that every run finds', async () => {
    const { exitCode, stdout } = await run('plan', 'shop', '--days', '1')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\nMETRIC +MARGIN +FINDS +MINUTES FOR 1 % +MINUTES FOR 5 % +MINUTES FOR 10 %\n/)
    expect(stdout).toMatch(/\nlatency +5 % +\d[\d.]* % +[\d,]+ +\d+ +\d+\n/)
  })

  test('expects four times the minutes for half of a change', async () => {
    const { stdout } = await run('plan', 'shop', '--days', '1', '--format', 'json')
    const { metrics } = JSON.parse(stdout) as {
      readonly metrics: readonly { readonly detectable: number; readonly minutes: readonly object[] }[]
    }
    const detectable = metrics[0]?.detectable ?? 0
    expect(detectable).toBeGreaterThan(0)
    expect(metrics[0]).toMatchObject({
      margin: 0.05,
      minutes: [{ change: 0.01 }, { change: 0.05 }, { change: 0.1 }],
      minutesForMargin: 30 * (detectable / 0.05) ** 2,
    })
  })

  test('warns about a margin that a run cannot find', async () => {
    const { stdout } = await run('plan', 'short', '--days', '1')
    expect(stdout).toMatch(
      /\nRuns that cannot find their own margin:\n {2}latency: its margin is 0\.1 %, but a run of 10 minutes finds changes from [\d.]+ % on\. Set a margin of [\d.]+ %, or run for [\d,]+ minutes\.\n/,
    )
  })
})

test.each(['0', '-1', 'x', '10000'])('%s days are refused with what they may be', async (days) => {
  const run = await runTidegate(['analysis', 'backtest', 'shop', `--days=${days}`])
  expect(run).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(`--days must be a whole number from 1 to 9999, not '${days}'`) as unknown,
  })
})
