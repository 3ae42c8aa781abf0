import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { analysisIn } from '../support/file-analysis.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

/** A definition for runs of three seconds with few points. */
function definition(canary: string): string {
  return JSON.stringify({
    lifetimeMinutes: 0.05,
    stepSeconds: 1,
    judge: 'kayenta',
    scopes: { baseline: { version: 'stable' }, canary: { version: canary } },
    metrics: {
      source: 'files',
      canaryConfig: {
        metrics: [
          { name: 'latency', groups: ['speed'], query: { customInlineTemplate: '${version}.csv#latency' } },
        ],
      },
    },
  })
}

/** A point for each second around the current time. */
function latencies(level: number): string {
  const firstMs = Math.floor(Date.now() / 1000 - 10) * 1000
  const rows = Array.from({ length: 600 }, (_, second) => {
    const time = new Date(firstMs + second * 1000).toISOString()
    return `${time},${level * (1 + 0.05 * Math.sin(second * 2.4))}`
  })
  return `time,latency\n${rows.join('\n')}\n`
}

const workspace = makeWorkspace({
  'policies/release.rego': 'package release\n\nallow := true\n',
  'data/stable.csv': latencies(100),
  'data/alike.csv': latencies(100),
  'data/slow.csv': latencies(300),
  'definitions/shop.json': definition('alike'),
  'definitions/bank.json': definition('slow'),
})
let tidegate: TidegateProcess
beforeAll(async () => {
  tidegate = await startTidegate({
    workspace,
    config: { analysis: analysisIn(workspace.path) },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

const analysis = (...args: readonly string[]): Promise<ProgramRun> =>
  runTidegate(['analysis', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })

/** Starts a run that keeps running; returns its number. */
async function started(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await analysis('start', 'shop', '--lifetime', '30', '--format', 'json', ...args)
  const { id } = JSON.parse(stdout || stderr) as { id: number }
  return String(id)
}

describe('tidegate analysis', () => {
  test.each([
    ['shop', 0, 'Success'],
    ['bank', 1, 'Fail'],
  ])('starts a run of %s, waits for its end and exits with %d', async (application, exitCode, verdict) => {
    const run = await analysis('start', application, '--wait', '--execution', '01J')
    expect(run.exitCode).toBe(exitCode)
    expect(run.stdout).toContain(verdict)
    expect(run.stdout).toContain('latency')
    expect(run.stderr).toContain('0 of 1 intervals')
  })

  test('starts a run by its own times and scores, without waiting', async () => {
    const plain = await analysis('start', 'shop', '--lifetime', '30')
    expect(plain).toMatchObject({ exitCode: 0, stderr: '' })
    expect(plain.stdout).toMatch(
      /^Started analysis \d+ of shop. Show it with tidegate analysis show \d+\.\n$/,
    )
    const id = await started('--interval', '10', '--pass', '80', '--marginal', '60')
    const shown = await analysis('show', id, '--format', 'json')
    expect(shown.exitCode).toBe(0)
    expect(JSON.parse(shown.stdout)).toMatchObject({
      state: 'RUNNING',
      intervalCount: 3,
      looks: 3,
      plan: { thresholds: { pass: 80, marginal: 60 }, timing: { lifetimeMs: 1_800_000 } },
    })
  })

  test('starts a run of a canary that runs since a while', async () => {
    const since = ['--canary-start', '2026-01-31T12:00:00Z', '--baseline-start', '2026-01-31T11:00']
    const shown = await analysis('show', await started(...since), '--format', 'json')
    const { plan } = JSON.parse(shown.stdout) as {
      plan: { targets: { metrics: { canary: object; baseline: object } }[] }
    }
    expect(plan.targets[0]?.metrics).toMatchObject({
      canary: { startMs: Date.UTC(2026, 0, 31, 12) },
      baseline: { startMs: Date.UTC(2026, 0, 31, 11) },
    })
  })

  test('lists runs, by application and state', async () => {
    const id = await started()
    const { stdout } = await analysis('list', '--application', 'shop', '--state', 'running')
    expect(stdout.split('\n')[0]).toMatch(/^ *id +application +state +intervals/)
    expect(stdout).toMatch(new RegExp(`^ *${id} +shop +running +0/1`, 'm'))
    expect(stdout).not.toContain('bank')
    expect(await analysis('list', '--application', 'nobody')).toEqual({
      exitCode: 0,
      stdout: 'no analyses\n',
      stderr: 'none of the newest 500 entries has --application nobody; there are bank, shop\n',
    })
  })

  test('compares two runs metric by metric, and sums one up for a chat', async () => {
    const ids = await Promise.all(
      ['shop', 'bank'].map(async (application) => {
        const { stdout } = await analysis('start', application, '--wait', '--format', 'json')
        return String((JSON.parse(stdout) as { id: number }).id)
      }),
    )
    const worse = await analysis('compare', ...ids)
    expect(worse.exitCode).toBe(1)
    expect(worse.stdout).toMatch(/latency +Pass +\S+ % +High +\+2\d\d %/)
    expect((await analysis('compare', ...ids.toReversed())).exitCode).toBe(0)
    const summary = await analysis('show', ids[1]!, '--markdown')
    expect(summary.exitCode).toBe(1)
    expect(summary.stdout).toContain('❌ **bank: Fail**')
    expect(summary.stdout).toContain(`[the whole report](${tidegate.url}/analysis/${ids[1]!})`)
  })

  test('writes the report as a page or a picture, to a file or to whoever reads on', async () => {
    const id = await started()
    const page = await analysis('report', id)
    expect(page).toMatchObject({ exitCode: 0, stderr: '' })
    expect(page.stdout).toMatch(/^<!doctype html>[\S\s]*<title>Analysis \d+ of shop: running<\/title>/)
    const file = `${workspace.path}/chart.png`
    expect(await analysis('report', id, '--format', 'png', '-o', file)).toEqual({
      ...{ exitCode: 0, stdout: '', stderr: '' },
    })
    expect(readFileSync(file).subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001A\n')
    expect((await analysis('report', '99999', '--format', 'png')).stderr).toContain('99999')
    const nowhere = await analysis('report', id, '-o', `${workspace.path}/gone/report.html`)
    expect(nowhere).toMatchObject({ exitCode: 2, stdout: '' })
    expect(nowhere.stderr).toContain('cannot write')
  })

  test('cancels a run, once', async () => {
    const id = await started()
    const cancelled = `analysis ${id} of shop: cancelled, cancelled after 0 of 1 intervals\n`
    for (let round = 0; round < 2; round++) {
      expect(await analysis('cancel', id)).toEqual({ exitCode: 0, stdout: cancelled, stderr: '' })
    }
    expect((await analysis('show', id)).exitCode).toBe(1)
    // A run without a verdict is not a good one to continue with.
    for (const ids of [
      [await started(), id],
      [id, id],
    ])
      expect((await analysis('compare', ...ids)).exitCode).toBe(1)
  })

  test.each([
    ['of an application that nobody knows', ['start', 'nobody'], 'Application "nobody" not found'],
    [
      'since a time in words',
      ['start', 'shop', '--canary-start', 'noon'],
      "--canary-start must be a time such as 2026-01-31T12:00:00Z or an age such as 2h or 7d, not 'noon'",
    ],
    ['with a lifetime in words', ['start', 'shop', '--lifetime', 'long'], 'lifetimeMinutes must be a number'],
    ['that does not exist', ['show', '99999'], 'there is no analysis 99999'],
    ['that is no number', ['cancel', 'x'], 'the id must be a positive integer'],
    ['without an interval yet', ['replay', '99999'], 'there is no analysis 99999'],
  ])('exits with 2 for a run %s', async (_, args, problem) => {
    const { exitCode, stderr } = await analysis(...args)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(new RegExp(problem))
  })

  test('cannot replay a run before its first interval', async () => {
    const { exitCode, stderr } = await analysis('replay', await started())
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/has no finished interval/)
  })
})
