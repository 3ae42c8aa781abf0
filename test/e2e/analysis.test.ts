import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readAsJob, readAsTestVerification, readAsVerification } from '../support/canary-readers.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { hasPrometheus, prometheusNote, startPrometheus } from '../support/prometheus-server.js'
import type { PrometheusServer } from '../support/prometheus-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { startVersionedProgram } from '../support/versioned-program.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

/** Two intervals, after seven and a half seconds and after fifteen. */
const DEFINITION = {
  lifetimeMinutes: 0.25,
  intervalMinutes: 0.125,
  stepSeconds: 1,
  metrics: {
    source: 'prom',
    canaryConfig: {
      name: 'shop',
      metrics: [
        {
          name: 'time of a request',
          groups: ['speed'],
          query: { metricName: 'request_ms', labelBindings: ['version="${version}"'] },
          analysisConfigurations: { canary: { direction: 'increase' } },
        },
      ],
      classifier: { groupWeights: { speed: 100 }, scoreThresholds: { pass: 95, marginal: 75 } },
    },
  },
}

function registration(version: string): object {
  const side = (name: string): object => ({ metric: { shop: { version: name } } })
  return {
    application: 'shop',
    isJsonResponse: true,
    canaryConfig: { name: 'ana' },
    canaryDeployments: [{ baseline: side('stable'), canary: side(version) }],
  }
}

describe.skipIf(!hasPrometheus)(`an analysis of what a real Prometheus scraped${prometheusNote}`, () => {
  const workspace = makeWorkspace({ 'policies/release.rego': 'package release\n\nallow := true\n' })
  const ids: Record<string, number> = {}
  let program: LoopbackServer
  let prometheus: PrometheusServer
  let tidegate: TidegateProcess

  const start = (): Promise<TidegateProcess> =>
    startTidegate({
      workspace,
      config: { analysis: { sources: [{ name: 'prom', type: 'prometheus', url: prometheus.url }] } },
    })
  const poll = async (id: number): Promise<Record<string, unknown>> =>
    objectOf(await ask(tidegate.url, { path: `/autopilot/v5/canaries/${id}` }))
  const runWhen = (id: number, isReached: (run: Record<string, unknown>) => boolean) =>
    waitUntil(
      async () => {
        const run = objectOf(await ask(tidegate.url, { path: `/analysis/${id}` }))
        return isReached(run) ? run : undefined
      },
      () => `analysis ${id} does not get there: ${tidegate.logText()}`,
    )

  // The service is killed between both intervals: all that follows is seen after a restart in the
  // middle of the runs.
  beforeAll(async () => {
    program = await startVersionedProgram({ stable: 20, healthy: 20, slow: 50 })
    prometheus = await startPrometheus({ targets: [`127.0.0.1:${program.port}`] })
    tidegate = await start()
    await ask(tidegate.url, {
      method: 'PUT',
      path: '/analysis/applications/shop',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(DEFINITION),
    })
    await prometheus.waitFor('request_ms{version="slow"}')
    for (const version of ['healthy', 'slow']) {
      const answer = await postJson(tidegate.url, '/autopilot/api/v5/registerCanary', registration(version))
      ids[version] = Number(objectOf(answer)['canaryId'])
      expect(readAsVerification(await poll(ids[version]))).toBe('RUNNING')
    }
    await runWhen(Number(ids['slow']), ({ intervalsDone }) => intervalsDone === 1)
    await tidegate.end('SIGKILL')
    tidegate = await start()
    await runWhen(Number(ids['healthy']), ({ state }) => state === 'COMPLETED')
    await runWhen(Number(ids['slow']), ({ state }) => state === 'COMPLETED')
  }, 90_000)
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    await prometheus.stop()
    await program.close()
    workspace.remove()
  })

  test.each([
    ['healthy', ['SUCCEEDED', 'SUCCEEDED', 'successful'], { overallScore: 100, overallResult: 'Success' }],
    ['slow', ['TERMINAL', 'TERMINAL', 'failed'], { overallScore: 0, overallResult: 'Fail' }],
  ])('gives the readers of a %s version their conclusion', async (version, conclusions, result) => {
    const status = await poll(Number(ids[version]))
    expect(status['canaryResult']).toMatchObject({ ...result, errors: [], isLastRun: true })
    expect(status['canaryConfig']).toMatchObject({
      minimumCanaryResultScore: 75,
      maximumCanaryResultScore: 95,
    })
    expect([readAsVerification(status), readAsTestVerification(status), readAsJob(status, 95)]).toEqual(
      conclusions,
    )
  })

  test('continued after the restart: each interval is there once, in time', async () => {
    for (const id of Object.values(ids)) {
      const run = await runWhen(id, () => true)
      const intervals = run['intervals'] as { interval: number; at: string }[]
      expect(intervals.map(({ interval }) => interval)).toEqual([1, 2])
      const startedMs = Date.parse(String(run['startedAt']))
      for (const { interval, at } of intervals) {
        expect(Date.parse(at) - startedMs).toBeGreaterThanOrEqual(interval * 7500)
      }
    }
  })

  test('explains each metric with its query', async () => {
    const { report } = (await runWhen(Number(ids['slow']), () => true)) as { report: object }
    expect(report).toMatchObject({
      verdict: 'Fail',
      targets: [
        {
          metrics: {
            results: [{ name: 'time of a request', classification: 'High', finding: { kind: 'gauge' } }],
          },
        },
      ],
    })
    // Kept packed, and sent so: `fetch` unpacks it.
    const answer = await fetch(`${tidegate.url}/analysis/${ids['slow']}/data?look=2`)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(await answer.text()).toContain('avg(request_ms{version=\\"slow\\"})')
  })

  test('draws the page of a run', async () => {
    const page = await ask(tidegate.url, {
      path: `/analysis/${ids['slow']}`,
      headers: { accept: 'text/html' },
    })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<svg')
    expect(page.text).toContain('time of a request')
    expect(page.text).not.toMatch(/<script|<link|\ssrc=|url\(/i)
  })

  test.each(['healthy', 'slow'])(
    'gives the identical report of a %s version when it is replayed',
    async (version) => {
      const args = ['analysis', 'replay', String(ids[version]), '--url', tidegate.url]
      for (const interval of ['1', '2']) {
        const replay = await runTidegate([...args, '--interval', interval, '--format', 'json'])
        expect(replay).toMatchObject({ exitCode: 0, stderr: '' })
        expect(JSON.parse(replay.stdout)).toMatchObject({ isIdentical: true, judge: 'default' })
      }
      expect((await runTidegate(args)).stdout).toContain('identical')
    },
  )

  test('can be judged by another judge afterwards', async () => {
    const args = ['analysis', 'replay', String(ids['slow']), '--url', tidegate.url, '--judge', 'kayenta']
    const { exitCode, stdout } = await runTidegate([...args, '--format', 'json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      judge: 'kayenta',
      isIdentical: false,
      report: { verdict: 'Fail' },
    })
  })

  test.each([
    ['healthy', 0, 'Success'],
    ['slow', 1, 'Fail'],
  ])('of a %s version makes the command line exit with %d', async (version, code, verdict) => {
    const shown = await runTidegate(['analysis', 'show', String(ids[version]), '--url', tidegate.url])
    expect(shown.exitCode).toBe(code)
    expect(shown.stdout).toContain(verdict)
    expect(shown.stdout).toContain('time of a request')
  })
})
