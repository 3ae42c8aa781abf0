import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { FILE_ANALYSIS, analysisIn } from '../support/file-analysis.js'
import { latencies } from '../support/analysis-files.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const broken = {
  ...FILE_ANALYSIS,
  metrics: {
    source: 'files',
    canaryConfig: {
      metrics: [
        { name: 'gone', groups: ['a'], query: { customInlineTemplate: 'none-${version}.csv#latency' } },
        { name: 'same', groups: ['a'], query: { customInlineTemplate: 'stable.csv#latency' } },
      ],
    },
  },
}
const workspace = makeWorkspace({
  'policies/release.rego': 'package release\n\nallow := true\n',
  'data/stable.csv': latencies(100),
  'data/healthy.csv': latencies(200),
  'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
  'definitions/broken.json': JSON.stringify(broken),
})
let tidegate: TidegateProcess
beforeAll(async () => {
  tidegate = await startTidegate({ workspace, config: { analysis: analysisIn(workspace.path) } })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const tryIt = (...args: readonly string[]): Promise<ProgramRun> =>
  runTidegate(['analysis', 'try', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })

describe('tidegate analysis try', () => {
  test('shows both series of each metric of the last hour, and keeps nothing', async () => {
    const { exitCode, stdout } = await tryIt('shop')
    expect(stdout).toMatch(
      /^shop, the last 60 minutes\n\nlatency\n {2}baseline: (?:58|59|60) of 60 steps, min 9\d/,
    )
    expect(stdout).toMatch(/ {2}canary: (?:58|59|60) of 60 steps, min 19\d\.?\d*, mean 2\d\d/)
    expect(stdout).toMatch(/\n {4}[▁▂▃▄▅▆▇█ ]{60}\n {4}stable\.csv#latency\n/)
    expect(exitCode).toBe(0)
    const list = await runTidegate(['analysis', 'list'], {
      ...{ cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } },
    })
    expect(list.stdout).toBe('no analyses\n')
  })

  test('takes values of the scope and the length of the window', async () => {
    const { exitCode, stdout } = await tryIt(
      'shop',
      '--canary',
      'version=stable',
      '--minutes',
      '30',
      '--format',
      'json',
    )
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      targets: [
        { metrics: [{ isSameOnBothSides: true, canary: { query: 'stable.csv#latency', steps: 30 } }] },
      ],
    })
  })

  test('reports failed queries and sides with the same query, and exits with 1', async () => {
    const { exitCode, stdout } = await tryIt('broken')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('  baseline: failed\n    files: there is no none-stable.csv\n')
    expect(stdout).toContain(
      'same\n  Both sides have the same query. Use a scope value in the query that differs between them.',
    )
  })

  test.each([
    [['nobody'], /No analysis is defined for "nobody"/],
    [['shop', '--minutes', '5000'], /minutes/],
    [['shop', '--canary', 'version'], /a scope value must have the form name=value, not 'version'/],
  ])('refuses %j with a sentence', async (args, sentence) => {
    const { exitCode, stderr } = await tryIt(...args)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(sentence)
  })

  test('over HTTP, judges a past stretch by a sent definition, and stores no verdict', async () => {
    const path = '/analysis/applications/cart/try'
    const until = new Date(Date.now() - 600_000).toISOString()
    const body = { definition: FILE_ANALYSIS, judge: true, until, minutes: 30 }
    const judged = objectOf(await postJson(tidegate.url, path, body))
    expect(judged).toMatchObject({
      window: { endMs: Date.parse(until), startMs: Date.parse(until) - 30 * 60_000 },
      report: { verdict: 'Fail', targets: [{ metrics: { results: [{ classification: 'High' }] } }] },
    })
    const list = objectOf(await ask(tidegate.url, { path: '/analysis' }))
    expect(list['runs']).toEqual([])
    const wrong = await postJson(tidegate.url, path, { definition: { judge: 'x', lifetimeMinutes: -1 } })
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringMatching(/judge[^]*lifetimeMinutes|lifetimeMinutes[^]*judge/),
    ])
    const future = new Date(Date.now() + 3_600_000).toISOString()
    expect((await postJson(tidegate.url, path, { ...body, until: future })).status).toBe(400)
  })

  test('tries two definitions at a time, and refuses a third', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => postJson(tidegate.url, '/analysis/applications/shop/try', {})),
    )
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.status).toBe(503)
      expect(objectOf(answer)).toMatchObject({
        message: expect.stringContaining('other definitions are being tried') as string,
      })
    }
  })
})
