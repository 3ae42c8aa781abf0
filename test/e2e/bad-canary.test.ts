import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { stageBody } from '../support/canary-bodies.js'
import { readAsJob, readAsTestVerification, readAsVerification } from '../support/canary-readers.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer, SeenRequest } from '../support/loopback-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const MINUTE_MS = 60_000
const START_MS = Math.floor(Date.now() / MINUTE_MS - 40) * MINUTE_MS
/** Failed requests a minute, which only the application has, not its pipeline. */
const LEVELS: Readonly<Record<string, number>> = { stable: 2, worse: 60, alike: 2 }
const JUDGES = ['default', 'kayenta']

function definition(judge: string, canary: string, label: string): string {
  const query = `errors{app="\${${label}}",version="\${version}"}`
  return JSON.stringify({
    lifetimeMinutes: 30,
    judge,
    scopes: { baseline: { version: 'stable' }, canary: { version: canary } },
    metrics: {
      source: 'prometheus',
      canaryConfig: {
        metrics: [
          {
            name: 'errors',
            query: { customInlineTemplate: `PromQL:${query}` },
            analysisConfigurations: { canary: { direction: 'increase', nanStrategy: 'replace' } },
          },
        ],
      },
    },
  })
}

/** Series by application only. Queries for pipelines return none. */
function answerQuery(request: SeenRequest): object {
  const { app = '', version = '' } =
    /app="(?<app>[^"]*)",version="(?<version>[^"]*)"/.exec(queryOf(request))?.groups ?? {}
  const level = app.startsWith('shop') ? LEVELS[version] : undefined
  const values = Array.from({ length: 30 }, (_, step) => [
    START_MS / 1000 + step * 60,
    String((level ?? 0) + (step % 3)),
  ])
  return {
    status: 'success',
    data: { resultType: 'matrix', result: level === undefined ? [] : [{ metric: {}, values }] },
  }
}

function queryOf({ url, body }: SeenRequest): string {
  return decodeURIComponent(`${url}&${body}`.replaceAll('+', ' '))
}

/**
 * As the verification stage registers it: both sides name the pipeline where a service is meant.
 */
function registration(application: string, scores = ['70', '90']): object {
  const body = stageBody({ application })
  const [deployment] = body['canaryDeployments'] as [object]
  const [marginal, pass] = scores
  return {
    ...body,
    canaryConfig: {
      lifetimeMinutes: '30',
      canaryHealthCheckHandler: { minimumCanaryResultScore: marginal },
      canarySuccessCriteria: { canaryResultScore: pass },
    },
    canaryDeployments: [{ ...deployment, baselineStartTimeMs: START_MS, canaryStartTimeMs: START_MS }],
  }
}

describe('a canary that the verification stage registers with the name of its pipeline as the service', () => {
  const workspace = makeWorkspace({
    'policies/release.rego': 'package release\n\nallow := true\n',
    ...Object.fromEntries(
      JUDGES.flatMap((judge) => [
        [`definitions/shop-bad-${judge}.json`, definition(judge, 'worse', 'application')],
        [`definitions/shop-good-${judge}.json`, definition(judge, 'alike', 'application')],
        [`definitions/shop-silent-${judge}.json`, definition(judge, 'worse', 'service')],
      ]),
    ),
  })
  let server: LoopbackServer
  let tidegate: TidegateProcess

  beforeAll(async () => {
    server = await startLoopbackServer((request, response) => {
      respondJson(response, 200, answerQuery(request))
    })
    tidegate = await startTidegate({
      workspace,
      config: {
        analysis: {
          definitions: `${workspace.path}/definitions`,
          sources: [{ name: 'prometheus', type: 'prometheus', url: server.origin }],
        },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    await server.close()
    workspace.remove()
  })

  const concluded = async (body: object): Promise<Record<string, unknown>> => {
    const answer = await postJson(tidegate.url, '/autopilot/api/v5/registerCanary', body)
    expect(answer.status).toBe(202)
    const id = String(objectOf(answer)['canaryId'])
    return await waitUntil(
      async () => {
        const status = objectOf(await ask(tidegate.url, { path: `/autopilot/canaries/${id}` }))
        return (status['status'] as { readonly complete: boolean }).complete ? status : undefined
      },
      () => `the analysis does not end: ${tidegate.logText()}`,
    )
  }
  const scoreOf = (status: Record<string, unknown>): number =>
    (status['canaryResult'] as { readonly overallScore: number }).overallScore

  test.each(JUDGES)('fails when it is bad, by the judge %s', async (judge) => {
    const status = await concluded(registration(`shop-bad-${judge}`))
    expect(status['canaryResult']).toMatchObject({ overallResult: 'Fail' })
    expect(scoreOf(status)).toBeLessThan(70)
    expect(readAsVerification(status)).toBe('TERMINAL')
    expect(readAsTestVerification(status)).toBe('TERMINAL')
    const asked = server.seen.map(queryOf).filter((query) => query.includes(`shop-bad-${judge}`))
    expect(asked.some((query) => query.includes('version="worse"'))).toBe(true)
    expect(asked.join()).not.toContain('prod-rollout')
  })

  test.each(JUDGES)('passes when it is like its baseline, by the judge %s', async (judge) => {
    const status = await concluded(registration(`shop-good-${judge}`))
    expect(readAsVerification(status)).toBe('SUCCEEDED')
    expect(scoreOf(status)).toBe(100)
  })

  test.each(
    JUDGES.flatMap((judge) =>
      [
        ['70', '90'],
        ['80', '80'],
      ].map((scores) => [judge, scores] as const),
    ),
  )('does not pass when nothing has data, by the judge %s with the scores %j', async (judge, scores) => {
    const status = await concluded(registration(`shop-silent-${judge}`, [...scores]))
    expect(server.seen.map(queryOf).some((query) => query.includes('app="prod-rollout"'))).toBe(true)
    const { overallResult, message } = status['canaryResult'] as Record<string, string>
    expect(overallResult).toMatch(/^(?:Fail|Review)$/)
    expect(message).toMatch(/^nothing could be (?:judged|compared)/i)
    expect(readAsVerification(status)).toBe('TERMINAL')
    expect(readAsJob(status, Number(scores[1]))).toBe('failed')
  })
})
