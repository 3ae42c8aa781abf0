import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../support/loopback-server.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const BUDGET = `package shop.budget

import rego.v1

kept if input.canary.document.burnt <= input.baseline.document.burnt * 2

default enough := false

enough if input.canary.document.burnt < 10

score := 100 - input.canary.document.burnt

broken := 1 / input.canary.document.zero
`
const BURNT: Readonly<Record<string, number>> = { stable: 3, healthy: 4, slow: 20 }

/** Servers of budgets, of logs and of metrics, by the first part of the path. */
const respond: Respond = ({ url }, response) => {
  const [, kind = '', version = ''] = url.split('?')[0]!.split('/')
  if (kind === 'budgets') respondJson(response, 200, { data: { burnt: BURNT[version], zero: 0 } })
  else if (kind === 'logs') {
    respondJson(response, 400, { __type: 'UnrecognizedClientException', message: 'The token is invalid.' })
  } else if (kind === 'login') respondJson(response, 401, { error: 'invalid_client' })
  else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
}

const check = (name: string, rule: string): object => ({
  ...{ name, rule, source: 'budgets', query: '/budgets/${version}?to=$endSeconds#data' },
})
const definition = (...checks: readonly object[]): object => ({
  ...{
    lifetimeMinutes: 60,
    checks,
    scopes: { baseline: { version: 'stable' }, canary: { version: 'healthy' } },
  },
})

const workspace = makeWorkspace({ 'policies/budget.rego': BUDGET })
let tidegate: TidegateProcess
let server: LoopbackServer
beforeAll(async () => {
  server = await startLoopbackServer(respond)
  workspace.write({
    'secret.txt': 'hunter2-secret',
    'definitions/shop.json': JSON.stringify(
      definition(check('kept', 'shop/budget/kept'), check('score', 'shop/budget/score')),
    ),
    'definitions/misspelt.json': JSON.stringify(definition(check('kept', 'shop/budget/kepd'))),
    'definitions/undefined.json': JSON.stringify(definition(check('zero', 'shop/budget/broken'))),
    'definitions/wrong.json': JSON.stringify({
      ...definition(check('enough', 'shop/budget/enough')),
      logs: { source: 'cloudwatch-logs', query: 'ERROR "${version}"' },
      metrics: {
        source: 'azure',
        canaryConfig: {
          metrics: [
            {
              ...{ name: 'errors', groups: ['a'] },
              query: {
                customInlineTemplate: JSON.stringify({
                  resource: '/subscriptions/${version}',
                  metric: 'Http5xx',
                }),
              },
            },
          ],
        },
      },
    }),
  })
  const secret = { file: `${workspace.path}/secret.txt` }
  tidegate = await startTidegate({
    workspace,
    config: {
      analysis: {
        definitions: `${workspace.path}/definitions`,
        sources: [
          { name: 'budgets', type: 'web', url: server.origin },
          {
            ...{
              name: 'cloudwatch-logs',
              type: 'cloudwatchlogs',
              url: `${server.origin}/logs`,
              index: '/ecs/shop',
            },
            ...{ region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: secret },
          },
          {
            ...{ name: 'azure', type: 'azure', url: `${server.origin}/azure` },
            signIn: {
              ...{ type: 'client-secret', tenantId: 't', clientId: 'c', clientSecret: secret },
              loginUrl: `${server.origin}/login`,
            },
          },
        ],
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await server.close()
  workspace.remove()
})

const tryIt = (...args: readonly string[]): Promise<ProgramRun> =>
  runTidegate(['analysis', 'try', ...args], { cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } })

/** Registers a canary whose time is over, and reads its status once it has ended. */
async function ended(application: string, version: string): Promise<Record<string, unknown>> {
  const registered = await postJson(tidegate.url, '/autopilot/api/v5/registerCanary', {
    ...{ application, isJsonResponse: true, canaryConfig: { lifetimeMinutes: '60', name: 'ana' } },
    canaryDeployments: [
      {
        canaryStartTimeMs: String(Date.now() - 61 * 60_000),
        canary: { metric: { [application]: { version } } },
      },
    ],
  })
  const id = Number(objectOf(registered)['canaryId'])
  return waitUntil(
    async () => {
      const status = objectOf(await ask(tidegate.url, { path: `/autopilot/canaries/${id}` }))
      return (status['status'] as { complete: boolean }).complete ? status : undefined
    },
    () => `analysis ${id} does not end`,
  )
}

describe('checks by rules', () => {
  test('pass and fail runs as the rules say', async () => {
    const passed = await ended('shop', 'healthy')
    expect(passed['canaryResult']).toMatchObject({ overallResult: 'Success', overallScore: 96, errors: [] })
    const failed = await ended('shop', 'slow')
    expect(failed['canaryResult']).toMatchObject({ overallResult: 'Fail', overallScore: 0 })
    expect(JSON.stringify(failed)).toContain('the rule shop/budget/kept is not defined')
    const { canaryReportURL } = passed['canaryResult'] as { canaryReportURL: string }
    const { pathname, search } = new URL(canaryReportURL)
    const page = await ask(tidegate.url, { path: `${pathname}${search}` })
    expect(page.text).toContain('The rule shop/budget/score is 96 of 100')
    const shown = await runTidegate(['analysis', 'show', String(passed['id'])], {
      ...{ cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } },
    })
    expect(shown.stdout).toContain('check score: Success. The rule shop/budget/score is 96 of 100')
  })

  test('stand beside each other when two runs are compared, and among the figures', async () => {
    const ids = [await ended('shop', 'healthy'), await ended('shop', 'slow')].map(({ id }) => String(id))
    const compared = await runTidegate(['analysis', 'compare', ...ids], {
      ...{ cwd: workspace.path, env: { TIDEGATE_URL: tidegate.url } },
    })
    expect(compared.stdout).toMatch(/^check: kept +Success \(100 of 100\) +- +no answer +-$/m)
    expect(compared.stdout).toMatch(/^check: score +Success \(96 of 100\) +- +Review \(80 of 100\) +-$/m)
    expect(compared.exitCode).toBe(1)
    const { text } = await ask(tidegate.url, { path: '/metrics' })
    const figure = 'application="shop",target="shop",check='
    expect(text).toContain(`tidegate_analysis_check_verdict{${figure}"kept",verdict="noAnswer"} 1\n`)
    expect(text).toContain(`tidegate_analysis_check_score{${figure}"score"} 80\n`)
  })

  test.each([
    ['misspelt', 'the rule shop/budget/kepd is not defined: it is misspelt, not loaded'],
    ['undefined', 'the rule shop/budget/broken could not be evaluated'],
  ])('fail a run where the rule is %s', async (application, reason) => {
    const { canaryResult } = await ended(application, 'healthy')
    expect(canaryResult).toMatchObject({ overallResult: 'Fail', overallScore: 0 })
    expect(JSON.stringify(canaryResult)).toContain(reason)
  })

  test('are shown by the trial with what was asked, and keep nothing', async () => {
    const { exitCode, stdout } = await tryIt('shop')
    expect(stdout).toMatch(
      /^check kept\n {2}shop\/budget\/kept is true\n {4}\/budgets\/stable\?to=[\d.]+\n {4}\/budgets\/healthy\?to=[\d.]+$/m,
    )
    expect(stdout).toContain('check score\n  shop/budget/score is 96\n')
    expect(exitCode).toBe(0)
    const misspelt = await tryIt('misspelt')
    expect(misspelt.stdout).toContain('is not defined: it is misspelt')
    expect(misspelt.exitCode).toBe(1)
  })

  test('stand beside what sources of metrics and logs say of wrong credentials, none of which is shown', async () => {
    const { exitCode, stdout } = await tryIt('wrong')
    expect(stdout).toContain('shop/budget/enough is true')
    expect(stdout).toContain('azure (its sign-in) answered 401 (see its credentials): invalid_client')
    expect(stdout).toContain(
      'cloudwatch-logs answered 400: UnrecognizedClientException: The token is invalid. (see accessKeyId and sessionToken)',
    )
    expect(stdout + tidegate.logText()).not.toContain('hunter2')
    expect(exitCode).toBe(1)
  })

  test('are decisions in the log of decisions', async () => {
    const list = await ask(tidegate.url, { path: '/decisions?path=shop/budget/score' })
    expect(list.text).toContain('"caller":"analysis"')
  })
})
