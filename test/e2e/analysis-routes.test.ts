import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import { PUBLIC_URL, as, pastCanary, useAnalysisService } from '../support/analysis-service.js'
import { FILE_ANALYSIS } from '../support/file-analysis.js'
import { argoBody, stageBody } from '../support/canary-bodies.js'
import { readAsJob, readAsTestVerification, readAsVerification } from '../support/canary-readers.js'
import { ask, objectOf } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { changeEvent, changeStage } from '../support/orchestrator-events.js'
import { waitUntil } from '../support/wait-until.js'

const { ended, get, post, send, url } = useAnalysisService()

function outcome(answer: Answered): [number, unknown] {
  return [answer.status, objectOf(answer)['code']]
}

function canaryIdOf(answer: Answered): number {
  const id = objectOf(answer)['canaryId']
  if (typeof id === 'number') return id
  throw new Error(`no canaryId: ${answer.text}`)
}

describe('a registration', () => {
  test('of the application alone is answered as the contract shows it', async () => {
    const answer = await post('/autopilot/api/v3/registerCanary', { application: 'shop' })
    expect(answer.status).toBe(200)
    expect(objectOf(answer)).toEqual({ canaryId: expect.any(Number) as number })
  })

  test.each([
    ['/autopilot/registerCanary', stageBody()],
    ['/autopilot/api/v1/registerCanary', stageBody()],
    ['/autopilot/api/v2/registerCanary', stageBody()],
    ['/autopilot/api/v3/registerCanary', stageBody()],
    ['/autopilot/api/v3/registerCanary/', { application: 'shop', isJsonResponse: true }],
    ['/autopilot/api/v5/registerCanary', stageBody()],
    ['/autopilot/api/v5/registerCanary', { application: 'shop' }],
  ])('of the stages at %s is accepted with one absolute Location', async (path, body) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(202)
    const id = canaryIdOf(answer)
    expect(answer.headers.location).toBe(`${PUBLIC_URL}/autopilot/v5/canaries/${id}`)
    expect(answer.headers['x-opsmx-report-token']).toMatch(/^\d{13}-[\w-]{43}$/)
    expect((await get(new URL(answer.headers.location ?? '').pathname.replace('/base', ''))).status).toBe(200)
  })

  test.each([
    ['an unknown application', { application: 'nobody' }, 404, 'resource_not_found'],
    ['a source that is not configured', { application: 'quiet' }, 409, 'resource_conflict'],
    ['a body without an application', {}, 400, 'invalid_parameter'],
    ['a list', [], 400, 'invalid_parameter'],
    ['a template that nobody sent', argoBody({ application: 'shop' }), 409, 'resource_conflict'],
  ])('is refused for %s, in members that the job reads too', async (_, body, status, code) => {
    const answer = await post('/autopilot/api/v5/registerCanary', body)
    expect(outcome(answer)).toEqual([status, code])
    expect(objectOf(answer)).toMatchObject({ error: code, message: expect.any(String) as string })
  })

  test('of a known application without a definition is a conflict with a remedy', async () => {
    const context = {
      'notification.type': 'upsertapplication',
      'application.name': 'known',
      application: { name: 'known', email: 'known@example.org' },
    }
    await post('/platform/echo', changeEvent([changeStage('upsertApplication', context)]))
    const answer = await waitUntil(
      async () => {
        const refusal = await post('/autopilot/api/v3/registerCanary', { application: 'known' })
        return refusal.status === 404 ? undefined : refusal
      },
      () => 'the registry does not know the application',
    )
    expect(outcome(answer)).toEqual([409, 'resource_conflict'])
    expect(objectOf(answer)['message']).toContain('PUT /analysis/applications/known')
  })

  test('names everything that is wrong with it', async () => {
    const body = { canaryConfig: { lifetimeMinutes: 'long', interval: -1 } }
    const answer = await post('/autopilot/api/v5/registerCanary', body)
    expect(objectOf(answer)['errors']).toHaveLength(3)
  })

  test('is for the orchestrator', async () => {
    expect((await post('/autopilot/api/v3/registerCanary', { application: 'shop' }, 'eve')).status).toBe(403)
  })
})

describe('a status', () => {
  test.each([
    ['/autopilot/canaries'],
    ['/autopilot/v5/canaries'],
    ['/autopilot/api/v1/autopilot/canaries'],
    ['/autopilot/api/v2/autopilot/canaries'],
  ])('at %s makes all readers wait while the run continues', async (path) => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', { application: 'shop' }))
    const status = objectOf(await get(`${path}/${id}`))
    expect(status['status']).toEqual({ complete: false, status: 'RUNNING' })
    expect([readAsVerification(status), readAsTestVerification(status), readAsJob(status, 90)]).toEqual([
      'RUNNING',
      'RUNNING',
      'running',
    ])
  })

  test.each([
    ['healthy', ['SUCCEEDED', 'SUCCEEDED', 'successful'], { overallScore: 100, overallResult: 'Success' }],
    ['slow', ['TERMINAL', 'TERMINAL', 'failed'], { overallScore: 0, overallResult: 'Fail' }],
    ['missing', ['TERMINAL', 'TERMINAL', 'failed'], { overallResult: 'Fail' }],
  ])('of a %s canary makes all readers conclude alike', async (version, conclusions, result) => {
    const status = await ended(canaryIdOf(await post('/autopilot/registerCanary', pastCanary(version))))
    expect(status['canaryResult']).toMatchObject(result)
    expect([readAsVerification(status), readAsTestVerification(status), readAsJob(status, 90)]).toEqual(
      conclusions,
    )
  })

  test.each(['99999', 'x', '12345678901234567890'])(
    'of %s, which is none, has all members too',
    async (id) => {
      const answer = await get(`/autopilot/canaries/${id}`)
      expect(outcome(answer)).toEqual([404, 'resource_not_found'])
      expect(readAsVerification(objectOf(answer))).toBe('TERMINAL')
      expect(readAsJob(objectOf(answer), 90)).toBe('cancelled')
    },
  )

  test('reports a cancelled run', async () => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', { application: 'shop' }))
    const answer = await send('DELETE', `/autopilot/canaries/${id}`, undefined, 'orca')
    expect(readAsJob(objectOf(answer), 90)).toBe('cancelled')
    expect(objectOf(await get(`/analysis/${id}`))).toMatchObject({ state: 'CANCELLED' })
  })
})

describe('templates of the GitOps client', () => {
  const LOG = JSON.stringify({
    templateName: 'app-log',
    errorTopics: [{ string: 'boom', topic: 'critical' }],
  })
  const pathOf = (type: string, name: string, text: string): string =>
    `/autopilot/api/v5/external/template?sha1=${createHash('sha1').update(text).digest('hex')}&templateType=${type}&templateName=${name}`
  const sendText = (path: string, body: string): Promise<Answered> =>
    ask(url(), { path, body, headers: { 'content-type': 'application/json', ...as('orca') } })

  test('are unknown, are created, and are known', async () => {
    const path = pathOf('LOG', 'app-log', LOG)
    expect((await get(path)).text.trim()).toBe('false')
    expect(objectOf(await sendText(path, LOG))).toMatchObject({ status: 'CREATED' })
    expect((await get(path)).text.trim()).toBe('true')
    expect((await get(pathOf('LOG', 'app-log', `${LOG} `))).text.trim()).toBe('false')
    expect((await get(pathOf('METRIC', 'app-log', LOG))).text.trim()).toBe('false')
  })

  test('that are wrong are refused with the text that the client shows', async () => {
    const answer = await sendText(pathOf('METRIC', 'bad', '{}'), '{}')
    expect(answer.status).toBe(400)
    expect(objectOf(answer)['errorMessage']).toEqual([expect.stringContaining('needs data')])
    expect(objectOf(answer)['status']).toBeUndefined()
  })

  test.each([
    ['a large text', 413, JSON.stringify({ templateName: 'x'.repeat(300_000) }), '262144 bytes'],
    [
      'many members',
      400,
      `{${Array.from({ length: 15_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
      'more than 10000 values',
    ],
    ['deep nesting', 400, `${'['.repeat(600)}${']'.repeat(600)}`, 'more than 512 levels'],
  ])('are refused for %s, in the text that the client shows', async (_, status, text, reason) => {
    const answer = await sendText(pathOf('METRIC', 'bad', text), text)
    expect(answer.status).toBe(status)
    expect(objectOf(answer)['errorMessage']).toEqual([expect.stringContaining(reason)])
  })

  test.each([
    ['no type', '/autopilot/api/v5/external/template?templateName=a'],
    ['another type', '/autopilot/api/v5/external/template?templateType=TRACE&templateName=a'],
    ['no name', '/autopilot/api/v5/external/template?templateType=LOG'],
  ])('with %s in the query are refused', async (_, path) => {
    expect((await get(path)).status).toBe(400)
  })
})

describe('definitions', () => {
  const path = '/analysis/applications/cart'

  test('are put, read, listed and deleted', async () => {
    const put = await send('PUT', path, FILE_ANALYSIS)
    expect(put.status).toBe(200)
    expect(objectOf(put)).toMatchObject({ ...FILE_ANALYSIS, judge: 'default', lookBack: 'growing' })
    expect(objectOf(await get(path))).toEqual(objectOf(put))
    const { applications } = objectOf(await get('/analysis/applications')) as {
      applications: { application: string; origin: string }[]
    }
    expect(applications.map(({ application, origin }) => `${application} ${origin}`)).toEqual([
      'cart api',
      'quiet configuration',
      'shop configuration',
    ])
    expect((await post('/autopilot/api/v3/registerCanary', { application: 'cart' })).status).toBe(200)
    expect((await send('DELETE', path)).status).toBe(200)
    expect((await get(path)).status).toBe(404)
    expect((await send('DELETE', path)).status).toBe(404)
    expect((await post('/autopilot/api/v3/registerCanary', { application: 'cart' })).status).toBe(404)
  })

  test('are accepted with a warning about unknown names in a canary config, which reports repeat', async () => {
    const query = { customInlineTemplate: 'PromQL:up' }
    const metrics = [{ name: 'up', query, analysisConfigurations: { canary: { criticl: true } } }]
    const says =
      'metrics[0].analysisConfigurations.canary.criticl is not known and does nothing: did you mean critical?'
    const put = await send('PUT', '/analysis/applications/typo', {
      metrics: { source: FILE_ANALYSIS.metrics.source, canaryConfig: { metrics } },
    })
    expect([put.status, objectOf(put)['warnings']]).toEqual([200, [says]])
    const started = await post('/autopilot/registerCanary', { application: 'typo' })
    const page = await get(`/analysis/${canaryIdOf(started)}`, 'eve', { accept: 'text/html' })
    expect(page.text).toContain(says)
    expect((await send('DELETE', '/analysis/applications/typo')).status).toBe(200)
  })

  test('that are wrong are refused with all that is wrong', async () => {
    const answer = await send('PUT', path, {
      lifetimeMinutes: 0,
      judge: 'mine',
      metrics: { source: '', template: 'a' },
    })
    expect(answer.status).toBe(400)
    const problems = (objectOf(answer)['errors'] as { message: string }[]).map(({ message }) => message)
    expect(problems).toEqual([
      expect.stringMatching(/^lifetimeMinutes /),
      expect.stringMatching(/^judge /),
      expect.stringMatching(/^metrics\.source /),
    ])
  })

  test('with a canary config that a run would stumble over are refused', async () => {
    const metrics = { source: 'files', canaryConfig: { metrics: [{ name: 'latency', query: {} }] } }
    const answer = await send('PUT', path, { metrics })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('metric latency: query is required')
  })

  test('are changed by admins alone', async () => {
    expect((await send('PUT', path, FILE_ANALYSIS, 'orca')).status).toBe(403)
    expect((await send('DELETE', path, undefined, 'eve')).status).toBe(403)
  })
})

describe('runs', () => {
  test('are listed newest first, page by page', async () => {
    const ids = []
    for (const version of ['healthy', 'slow', 'healthy']) {
      ids.push(canaryIdOf(await post('/autopilot/registerCanary', pastCanary(version))))
    }
    const first = objectOf(await get('/analysis?application=shop&limit=2')) as {
      runs: { id: number }[]
      nextCursor: string
      next: string
    }
    expect(first.next).toBe(first.nextCursor)
    expect(first.runs.map(({ id }) => id)).toEqual([ids[2], ids[1]])
    const second = objectOf(await get(`/analysis?application=shop&limit=1&cursor=${first.nextCursor}`))
    expect(second['runs']).toMatchObject([{ id: ids[0], executionId: 'execution-healthy' }])
    await ended(Number(ids[1]))
    const tomorrow = Date.now() + 86_400_000
    expect(objectOf(await get(`/analysis?since=${tomorrow}`))).toEqual({ runs: [] })
    expect(objectOf(await get(`/analysis?until=${tomorrow}&limit=1`))['runs']).toHaveLength(1)
    const slow = objectOf(await get('/analysis?executionId=execution-slow&state=completed'))
    expect(slow['runs']).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ id: ids[1], verdict: 'Fail' })]),
    )
  })

  test('are shown with their plan, their intervals and the report', async () => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', pastCanary('slow')))
    await ended(id)
    expect(objectOf(await get(`/analysis/${id}`))).toMatchObject({
      id,
      state: 'COMPLETED',
      verdict: 'Fail',
      owner: 'ana',
      plan: { application: 'shop', thresholds: { pass: 90, marginal: 70 } },
      intervals: [{ interval: 1, look: 1, verdict: 'Fail' }],
      report: {
        targets: [{ name: 'shop', metrics: { results: [{ name: 'latency', classification: 'High' }] } }],
      },
    })
  })

  test.each([
    ['/analysis/99999', 404],
    ['/analysis/x', 404],
    ['/analysis/99999/data', 404],
    ['/analysis?limit=0', 400],
    ['/analysis?state=over', 400],
  ])('at %s are refused', async (path, status) => {
    expect((await get(path)).status).toBe(status)
  })

  test('that end are in the trail with their initiator', async () => {
    const id = canaryIdOf(await post('/autopilot/registerCanary', pastCanary('healthy')))
    await ended(id)
    const { text } = await get('/audit?source=analysis&limit=500', 'eve')
    expect(text).toContain('analysis.started')
    expect(text).toContain('analysis.completed')
  })
})
