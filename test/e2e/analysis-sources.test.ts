import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readAsJob, readAsTestVerification, readAsVerification } from '../support/canary-readers.js'
import { freePort } from '../support/free-port.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondAsLoki, respondWithHalfOfTheShards } from '../support/log-servers.js'
import type { HeldLine } from '../support/log-servers.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../support/loopback-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const MINUTE_MS = 60_000
const START_MS = Math.floor(Date.now() / MINUTE_MS - 40) * MINUTE_MS
const MIB = 1024 * 1024

/** The response of a server to a range query, by the first part of its path. */
const SERVERS: Readonly<Record<string, Respond>> = {
  unavailable: (_, response) => response.writeHead(503).end('no healthy upstream'),
  refusing: (_, response) =>
    respondJson(response, 400, { status: 'error', errorType: 'bad_data', error: 'parse error' }),
  text: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  empty: (_, response) => respondJson(response, 200, matrix([])),
  nan: (_, response) => respondJson(response, 200, matrix([{ metric: {}, values: points(() => 'NaN') }])),
  infinite: (_, response) =>
    respondJson(response, 200, matrix([{ metric: {}, values: points(() => '+Inf') }])),
  huge: (_, response) => stream(response, 100),
  silent: () => undefined,
  healthy: (_, response) =>
    respondJson(response, 200, matrix([{ metric: {}, values: points((step) => String(10 + (step % 3))) }])),
}

function matrix(result: readonly object[]): object {
  return { status: 'success', data: { resultType: 'matrix', result } }
}

function points(value: (step: number) => string): [number, string][] {
  return Array.from({ length: 30 }, (_, step) => [START_MS / 1000 + step * 60, value(step)])
}

/** Sends this many MiB of JSON without end, as long as the client reads. */
function stream(response: ServerResponse, mebibytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[')
  let sent = 0
  const more = (): void => {
    while (sent++ < mebibytes && !response.destroyed) {
      if (!response.write('[1,"1"],'.repeat(MIB / 8))) {
        response.once('drain', more)
        return
      }
    }
    response.end()
  }
  more()
}

const ORDINARY = Array.from({ length: 600 }, (_, index) => ({
  afterMs: index * 3000,
  text: `INFO order ${index} paid`,
}))
const LOGS: Readonly<Record<string, readonly HeldLine[]>> = {
  stable: ORDINARY,
  healthy: ORDINARY,
  failing: [
    ...ORDINARY,
    ...ORDINARY.slice(0, 40).map(({ afterMs }) => ({ afterMs, text: 'FATAL no stock table' })),
  ].sort((one, other) => one.afterMs - other.afterMs),
}

function definition(source: string): object {
  const query = { customInlineTemplate: 'PromQL:load{version="${version}"}' }
  const canaryConfig = { metrics: [{ name: 'load', query }] }
  return { lifetimeMinutes: 30, metrics: { source, canaryConfig } }
}

const LOKI_DEFINITION = {
  lifetimeMinutes: 30,
  logs: { source: 'loki', query: '{app="shop",version="${version}"}' },
}
const SEARCH_DEFINITION = { lifetimeMinutes: 30, logs: { source: 'search', query: 'version:${version}' } }

function registration(application: string, version: string): object {
  const side = (name: string): object => {
    const services = { [application]: { version: name } }
    return { metric: services, log: services }
  }
  const deployment = { canaryStartTimeMs: START_MS, baseline: side('stable'), canary: side(version) }
  return { application, canaryDeployments: [deployment] }
}

describe('an analysis', () => {
  const workspace = makeWorkspace({ 'policies/release.rego': 'package release\n\nallow := true\n' })
  let server: LoopbackServer
  let loki: LoopbackServer
  let search: LoopbackServer
  let tidegate: TidegateProcess

  beforeAll(async () => {
    server = await startLoopbackServer((request, response, nth) =>
      SERVERS[request.url.split('/')[1] ?? '']?.(request, response, nth),
    )
    loki = await startLoopbackServer(
      respondAsLoki((query) => LOGS[/version="(\w+)"/.exec(query)?.[1] ?? ''] ?? [], START_MS),
    )
    search = await startLoopbackServer(respondWithHalfOfTheShards)
    const prometheus = (name: string, url: string): object => ({
      name,
      type: 'prometheus',
      url,
      // Sending and reading this much takes a while on a busy machine.
      timeoutSeconds: name === 'huge' ? 20 : 1,
    })
    const definitions = [...Object.keys(SERVERS), 'down'].map((name) => [name, definition(name)] as const)
    workspace.write(
      Object.fromEntries(
        [...definitions, ['log', LOKI_DEFINITION] as const, ['shards', SEARCH_DEFINITION] as const].map(
          ([name, document]) => [`definitions/${name}.json`, JSON.stringify(document)],
        ),
      ),
    )
    tidegate = await startTidegate({
      workspace,
      config: {
        analysis: {
          definitions: `${workspace.path}/definitions`,
          sources: [
            ...Object.keys(SERVERS).map((name) => prometheus(name, `${server.origin}/${name}`)),
            prometheus('down', `http://127.0.0.1:${await freePort()}`),
            { name: 'loki', type: 'loki', url: loki.origin, pageLines: 100 },
            { name: 'search', type: 'elasticsearch', url: search.origin, index: 'logs-*' },
          ],
        },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    for (const each of [server, loki, search]) await each.close()
    workspace.remove()
  })

  /**
   * Analyses the half hour that begins at `START_MS`; returns the status when the run has ended.
   */
  async function analyse(application: string, version = 'healthy'): Promise<Record<string, unknown>> {
    const body = registration(application, version)
    const { headers } = await postJson(tidegate.url, '/autopilot/api/v5/registerCanary', body)
    return await waitUntil(
      async () => {
        const status = objectOf(await ask(tidegate.url, { path: new URL(headers.location ?? '').pathname }))
        return readAsVerification(status) === 'RUNNING' ? undefined : status
      },
      () => `the analysis of ${application} does not end`,
    )
  }

  test.each([
    ['is down', 'down', /connection was refused|ECONNREFUSED/i],
    ['answers 503', 'unavailable', /503/],
    ['answers 400', 'refusing', /parse error/],
    ['answers with a page to sign in', 'text', /an HTML page/],
    ['never answers', 'silent', /did not answer in full within 1000 ms/],
    ['answers with 100 MB', 'huge', /16 MiB|16777216|too large|more than/i],
  ])('of a source that %s fails with the reason', { timeout: 60_000 }, async (_, application, error) => {
    const status = await analyse(application)
    expect([readAsVerification(status), readAsTestVerification(status), readAsJob(status, 70)]).toEqual([
      'TERMINAL',
      'TERMINAL',
      'failed',
    ])
    const { overallResult, overallScore, errors, message } = status['canaryResult'] as Record<string, unknown>
    expect({ overallResult, overallScore }).toEqual({ overallResult: 'Fail', overallScore: 0 })
    expect(errors).toEqual([expect.stringMatching(error), expect.stringMatching(error)])
    expect(message).toMatch(/^No answer from the source for the metrics/)
  })

  test.each(['empty', 'nan', 'infinite'])(
    'of a source that has %s values does not pass',
    async (application) => {
      const status = await analyse(application)
      expect(status['canaryResult']).toMatchObject({ overallResult: 'Review' })
      expect(readAsVerification(status)).toBe('TERMINAL')
      expect(readAsJob(status, 90)).toBe('failed')
    },
  )

  test('of the same server where it is well passes', async () => {
    expect(readAsVerification(await analyse('healthy'))).toBe('SUCCEEDED')
  })

  test('of a search that half of the shards answered does not pass for a log without errors', async () => {
    const status = await analyse('shards')
    expect(readAsVerification(status)).toBe('TERMINAL')
    expect(JSON.stringify(status['canaryResult'])).toMatch(/2 of 4 shards/)
  })

  test('of similar logs in Loki passes', async () => {
    expect(readAsVerification(await analyse('log', 'healthy'))).toBe('SUCCEEDED')
    expect(loki.seen.length).toBeGreaterThan(12)
  })

  test('of logs in Loki fails for lines that only the canary logs, shows them, and is reproducible', async () => {
    const status = await analyse('log', 'failing')
    expect(readAsVerification(status)).toBe('TERMINAL')
    expect(status['canaryResult']).toMatchObject({ overallResult: 'Fail', errors: [] })
    const shown = await runTidegate(['analysis', 'show', String(status['id']), '--url', tidegate.url])
    expect(shown.stdout).toMatch(/critical +new +0 +40 .* no stock table$/m)
    const page = await ask(tidegate.url, {
      path: `/analysis/${String(status['id'])}`,
      headers: { accept: 'text/html' },
    })
    expect(page.text).toContain('no stock table')
    const replay = await runTidegate(['analysis', 'replay', String(status['id']), '--url', tidegate.url])
    expect(replay).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('identical') as string })
  })

  test('under way does not hold up the end of the service', async () => {
    const asked = server.seen.length
    await postJson(tidegate.url, '/autopilot/api/v5/registerCanary', registration('silent', 'healthy'))
    await waitUntil(
      () => (server.seen.length > asked ? true : undefined),
      () => 'the source is not asked',
    )
    expect(await tidegate.end('SIGTERM')).toBe(0)
    expect(tidegate.logText()).toContain('"msg":"shut down"')
    expect(tidegate.logText()).not.toContain('"level":"error"')
  })
})
