import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FILE_ANALYSIS, analysisIn } from '../support/file-analysis.js'
import { latencies } from '../support/analysis-files.js'
import { ask, objectOf } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const scopesTo = (version: string): object => ({ baseline: { version: 'stable' }, canary: { version } })
const workspace = makeWorkspace({
  'policies/release.rego': 'package release\n\nallow := true\n',
  'data/stable.csv': latencies(100),
  'data/healthy.csv': latencies(100.5),
  'data/slow.csv': latencies(300),
  'definitions/healthy.json': JSON.stringify(FILE_ANALYSIS),
  'definitions/slow.json': JSON.stringify({ ...FILE_ANALYSIS, scopes: scopesTo('slow') }),
  'definitions/gone.json': JSON.stringify({ ...FILE_ANALYSIS, scopes: scopesTo('gone') }),
})
let tidegate: TidegateProcess
const run = (...args: readonly string[]): Promise<ProgramRun> =>
  runTidegate(['analysis', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })
const start = (application: string): Promise<ProgramRun> => {
  const since = new Date(Date.now() - 90 * 60_000).toISOString()
  return run('start', application, '--canary-start', since, '--wait')
}

// Analyses 1, 2 and 3 in this order.
beforeAll(async () => {
  tidegate = await startTidegate({ workspace, config: { analysis: analysisIn(workspace.path) } })
  for (const application of ['healthy', 'slow', 'gone']) await start(application)
}, 60_000)
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

describe('tidegate analysis feedback', () => {
  test('counts a false alarm for the metrics that caused it, and the last judgement only', async () => {
    expect((await run('precision', 'slow')).stdout).toContain('no judgements about analyses of slow')
    const wrong = await run('feedback', '2', 'false-alarm', '--comment', 'the cache was cold')
    expect(wrong).toMatchObject({
      ...{ exitCode: 0, stdout: 'analysis 2 of slow: judged as false-alarm (latency)\n' },
    })
    expect((await run('precision', 'slow')).stdout).toBe(
      'slow: 0 right, 1 false alarm, 0 missed\n\nMETRIC   RIGHT  FALSE ALARMS  MISSED  PRECISION\nlatency      0             1       0        0 %\n',
    )
    await run('feedback', '2', 'right')
    expect((await run('precision', 'slow')).stdout).toContain(
      'latency      1             0       0      100 %\n',
    )
    const shown = objectOf(await ask(tidegate.url, { path: '/analysis/2' }))
    expect(shown['feedback']).toMatchObject({ judgement: 'right', metrics: ['latency'] })
  })

  test('records each judgement in the trail', async () => {
    await run('feedback', '1', 'missed', '--metric', 'latency')
    const { records } = objectOf(await ask(tidegate.url, { path: '/audit?kind=analysis.feedback' })) as {
      readonly records: readonly object[]
    }
    expect(records).toContainEqual(
      expect.objectContaining({ kind: 'analysis.feedback', application: 'healthy' }),
    )
  })

  test.each([
    [['1', 'false-alarm'], 'is a success, which is no alarm'],
    [['2', 'missed'], 'has failed, so it missed nothing'],
    [['2', 'right', '--metric', 'latencies'], 'has no metric latencies. Did you mean latency?'],
    [['99', 'right'], 'there is no analysis 99'],
  ])('refuses %j', async (args, problem) => {
    const { exitCode, stderr } = await run('feedback', ...args)
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain(problem)
  })
})

test('lists a dash instead of a score where nothing was judged', async () => {
  const { stdout } = await run('list')
  expect(stdout).toMatch(/^ *3 +gone +completed +1\/1 +– +Fail /m)
  expect(stdout).toMatch(/^ *1 +healthy +completed +1\/1 +100 +Success /m)
})
