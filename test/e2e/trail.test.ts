import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import {
  base64Json,
  changeEvent,
  changeStage,
  flattened,
  pipelineEvent,
} from '../support/orchestrator-events.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const LIMIT = 200_000
const JSON_BODY = { 'content-type': 'application/json' }
const workspace = makeWorkspace()
let service: TidegateProcess
let orchestrator: LoopbackServer

beforeAll(async () => {
  workspace.write({
    'policies/runtime.rego': 'package runtime\n\nallow := input.application == "shop"\n',
    'webhook-token': 'let-me-in\n',
  })
  orchestrator = await startLoopbackServer(({ url }, response) => {
    const listed = url.startsWith('/v2/applications')
      ? [{ name: 'shop' }]
      : [{ name: 'listed', application: 'shop', id: 'id-listed', stages: [] }]
    respondJson(response, 200, listed)
  })
  service = await startTidegate({
    workspace,
    config: {
      audit: { maxBodyBytes: LIMIT, checkpointRecords: 1 },
      orchestrator: {
        storageUrl: orchestrator.origin,
        gateUrl: orchestrator.origin,
        eventsAtRoot: true,
        webhookToken: { file: join(workspace.path, 'webhook-token') },
      },
    },
  })
})

afterAll(async () => {
  await service.end('SIGTERM')
  await orchestrator.close()
  workspace.remove()
})

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return ask(service.url, { path, body: text, headers: { ...JSON_BODY, ...headers } })
}

async function get(path: string): Promise<Record<string, unknown>> {
  const { status, text } = await ask(service.url, { path })
  expect(status, text).toBe(200)
  return JSON.parse(text) as Record<string, unknown>
}

async function recordsOf(query: string): Promise<Record<string, unknown>[]> {
  return (await get(`/audit?${query}`))['records'] as Record<string, unknown>[]
}

describe('an event', () => {
  it.each([
    '/platform/echo',
    '/platform/echo/',
    '/oes/echo',
    '/oes/echo/',
    '//oes/echo',
    '/auditservice/v1/echo/events/data',
    '/auditservice/v1/echo/events/data/',
    '/',
    '//',
  ])('is accepted at %s and found immediately', async (path) => {
    const eventId = `at ${path}`
    expect((await post(path, { ...pipelineEvent(), eventId })).status).toBe(200)
    const records = await recordsOf(`eventId=${encodeURIComponent(eventId)}`)
    expect(records).toMatchObject([{ kind: 'orca:pipeline:failed', application: 'shop' }])
  })

  it.each([
    ['as the contract writes it', '/platform/echo', { eventId: 'form-1', name: 'app-created' }],
    ['flattened', '/oes/echo/', flattened({ ...pipelineEvent(), eventId: 'form-2' })],
    ['wrapped', '/oes/echo/', { eventName: 'x', payload: { ...pipelineEvent(), eventId: 'form-3' } }],
    ['as audit data of texts', '/auditservice/v1/echo/events/data', { content: 'c', details: 'd' }],
  ])('is taken %s', async (_, path, body) => {
    const { status, text } = await post(path, body)
    expect(status, text).toBe(200)
    const { seq } = JSON.parse(text) as { seq: number }
    expect(await get(`/audit/${seq}`)).toMatchObject({ seq, body })
  })

  it.each([
    ['no JSON', 400, '{"eventId":', /JSON/],
    ['no object', 400, '[1]', /object/],
    ['nothing', 400, '', /JSON|empty/],
    ['without the required fields', 400, '{}', /eventId, name/],
    ['nested 50,000 deep', 400, '['.repeat(50_000) + ']'.repeat(50_000), /nested too deeply/],
    ['over the limit', 413, JSON.stringify({ eventId: 'x', name: 'x'.repeat(LIMIT) }), /audit\.maxBodyBytes/],
  ])('that is %s gets a %i', async (_, status, body, message) => {
    const answer = await post('/platform/echo', body)
    expect(answer.status).toBe(status)
    expect((JSON.parse(answer.text) as { message: string }).message).toMatch(message)
  })

  it('is refused without a JSON type, and with another method', async () => {
    const answer = await ask(service.url, { path: '/platform/echo', body: '{}' })
    expect(answer.status).toBe(415)
    expect((await ask(service.url, { path: '/platform/echo', method: 'PUT', body: '{}' })).status).toBe(405)
  })

  it('may be packed', async () => {
    const packed = gzipSync(JSON.stringify({ eventId: 'packed', name: 'n' }))
    expect((await post('/platform/echo', packed, { 'content-encoding': 'gzip' })).status).toBe(200)
    expect(await recordsOf('eventId=packed')).toHaveLength(1)
  })
})

describe('the trail', () => {
  it('is found by words as soon as an event was answered', async () => {
    await post('/platform/echo', { eventId: 'words', name: 'n', note: 'a very peculiarword here' })
    expect(await recordsOf('q=PECULIARWORD+very')).toMatchObject([{ eventId: 'words' }])
  })

  it('pages by cursor', async () => {
    for (let index = 0; index < 5; index += 1) {
      const content = { executionId: 'paged', execution: {} }
      await post('/oes/echo/', { ...pipelineEvent(), eventId: `paged-${index}`, content })
    }
    const seen: unknown[] = []
    let cursor = ''
    do {
      const page = await get(`/audit?executionId=paged&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...(page['records'] as { eventId: string }[]).map(({ eventId }) => eventId))
      cursor = (page['nextCursor'] as string | undefined) ?? ''
    } while (cursor !== '')
    expect(seen).toEqual([4, 3, 2, 1, 0].map((index) => `paged-${index}`))
  })

  it.each([
    ['limit=0', /limit/],
    ['limit=1000', /limit/],
    ['cursor=!', /cursor/],
    ['from=yesterday', /ISO 8601/],
    ['to=2026-02-30', /ISO 8601/],
    ['source=nobody', /source/],
    ['q=***', /word/],
    ['colour=red', /colour/],
  ])('refuses the query %s', async (query, message) => {
    const { status, text } = await ask(service.url, { path: `/audit?${query}` })
    expect(status).toBe(400)
    expect((JSON.parse(text) as { message: string }).message).toMatch(message)
  })

  it('is exported as NDJSON with bodies, and as CSV that no spreadsheet runs', async () => {
    await post('/platform/echo', { eventId: 'export', name: '=HYPERLINK("x")' })
    const { text } = await ask(service.url, { path: '/audit/export?eventId=export&bodies=true' })
    const [record = '', ...rest] = text.split('\n')
    expect(JSON.parse(record)).toMatchObject({ eventId: 'export', body: { name: '=HYPERLINK("x")' } })
    expect(rest).toEqual(['{"end":{"records":1}}', ''])
    const csv = await ask(service.url, { path: '/audit/export?eventId=export&format=csv' })
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
    const [head, line] = csv.text.trim().split('\n')
    expect(head).toMatch(/^seq,at,recordedAt,source,kind/)
    expect(line).toContain(`"'=HYPERLINK(""x"")"`)
  })

  it('is proven over HTTP', async () => {
    expect(await get('/audit/verify')).toMatchObject({ isIntact: true, problems: [] })
  })

  it('is proven by the command line, also in its directory while the service runs', async () => {
    const byService = await runTidegate(['audit', 'verify', '--url', service.url])
    expect(byService.stdout).toMatch(/^intact: \d+ records checked/)
    const dataDir = join(workspace.path, 'data')
    const offline = await runTidegate(['audit', 'verify', '--data-dir', dataDir, '--format', 'json'])
    expect(JSON.parse(offline.stdout)).toMatchObject({ isIntact: true })
  })

  it('is searched, shown and exported by the command line', async () => {
    await post('/platform/echo', { eventId: 'cli', name: 'cli.event' })
    const url = ['--url', service.url]
    const found = await runTidegate(['audit', 'search', '--kind', 'cli.event', ...url, '--format', 'json'])
    const { records } = JSON.parse(found.stdout) as { records: { seq: number }[] }
    const shown = await runTidegate(['audit', 'show', String(records[0]?.seq), ...url])
    expect(JSON.parse(shown.stdout)).toMatchObject({ eventId: 'cli', body: { name: 'cli.event' } })
    const exportAs = (...format: string[]) =>
      runTidegate(['audit', 'export', '--kind', 'cli.event', ...format, ...url])
    const exported = await exportAs('--format', 'csv')
    expect(exported.stdout.split('\n')).toHaveLength(4)
    expect(await exportAs('--as', 'csv')).toEqual({
      ...exported,
      stderr: 'warning: --as is deprecated; use --format csv\n',
    })
    expect((await exportAs('--format', 'json')).stdout).toMatch(/^\{/)
  })
})

describe('an execution', () => {
  it('has one story of its events and the decisions about it', async () => {
    const executionId = '01J0STORY'
    const execution = { type: 'PIPELINE', id: executionId, application: 'shop', name: 'rollout' }
    const at = { source: 'orca', application: 'shop', created: String(Date.now()), requestHeaders: {} }
    const event = (type: string) => ({
      eventId: `story ${type}`,
      details: { ...at, type },
      content: { execution },
    })
    await post('/oes/echo/', event('orca:pipeline:starting'))
    const asked = await post('/v1/data/runtime', {
      ...{ executionId, payloadConstraint: '{}', name: 'rollout', stage: 'Policy', imageIds: '' },
      application: 'shop',
      startTime: '1',
      user: 'ana',
    })
    expect(asked.status, asked.text).toBe(200)
    await post('/oes/echo/', event('orca:pipeline:complete'))
    const entries = await waitUntil(
      async () => {
        const story = await get(`/executions/${executionId}/timeline`)
        const all = story['entries'] as { source: string; kind: string }[]
        return all.length === 3 ? all : undefined
      },
      () => 'the decision is not in the timeline',
    )
    expect(entries.map(({ source }) => source).sort()).toEqual(['event', 'event', 'policy'])
    expect((await ask(service.url, { path: '/executions/unknown/timeline' })).status).toBe(404)
  })
})

describe('the registry', () => {
  it('contains the data of events and of the storage service', async () => {
    const pipeline = { name: 'told', application: 'shop', id: 'id-told', stages: [] }
    const context = { pipeline: base64Json(pipeline), application: 'shop', 'pipeline.id': 'id-told' }
    const endTime = Date.now() + 60_000
    const stage = changeStage('savePipeline', context, { endTime })
    await post('/oes/echo/', { ...changeEvent([stage], { endTime }), eventId: 'told' })
    const names = await waitUntil(
      async () => {
        const { pipelines } = (await get('/pipelines?application=SHOP')) as { pipelines: { name: string }[] }
        return pipelines.length === 2 ? pipelines.map(({ name }) => name) : undefined
      },
      () => 'the registry does not have both pipelines',
    )
    expect(names).toEqual(['listed', 'told'])
    const told = await get('/pipelines/id-told')
    expect(told).toMatchObject({ name: 'told', definition: pipeline })
    expect(await get(`/pipelines/${String(told['id'])}/history`)).toMatchObject({
      versions: [{ version: 1 }],
    })
    expect(await get('/applications/Shop')).toMatchObject({ name: 'shop', definition: { name: 'shop' } })
    expect((await ask(service.url, { path: '/pipelines/none' })).status).toBe(404)
  })

  it('reports its reconciliations', async () => {
    const { text } = await ask(service.url, { path: '/metrics' })
    expect(text).toMatch(/tidegate_reconciliations_total\{result="success"\} [1-9]/)
    expect(text).toMatch(/tidegate_events_total\{result="kept"\} [1-9]/)
    expect((await ask(service.url, { path: '/health?plugins' })).status).toBe(200)
  })
})

describe('a webhook of the repository host', () => {
  const hook = (token: string, delivery: string): Promise<Answered> =>
    post(
      '/webhooks/webhook/gitlab',
      { object_kind: 'push', password: 'pw' },
      {
        'x-gitlab-token': token,
        'x-gitlab-event': 'Push Hook',
        'idempotency-key': delivery,
      },
    )

  it('is passed on once with the secret token, and recorded without secrets', async () => {
    expect((await hook('let-me-in', 'd1')).status).toBe(200)
    expect((await hook('let-me-in', 'd1')).status).toBe(200)
    const relayed = await waitUntil(
      () => orchestrator.seen.find(({ url }) => url === '/webhooks/webhook/gitlab'),
      () => 'the webhook is not passed on',
    )
    expect(relayed.headers).toMatchObject({ 'x-gitlab-token': 'let-me-in', 'x-gitlab-event': 'Push Hook' })
    expect(JSON.parse(relayed.body)).toEqual({ object_kind: 'push', password: 'pw' })
    const [record] = await recordsOf('kind=webhook.push')
    expect(await get(`/audit/${String(record?.['seq'])}`)).toMatchObject({ body: { password: '[redacted]' } })
    expect(await recordsOf('kind=webhook.push')).toHaveLength(1)
    expect(await get('/outbox?limit=1')).toMatchObject({
      messages: [{ topic: 'webhook.relay', body: { object_kind: 'push', password: '[redacted]' } }],
    })
  })

  it.each(['', 'wrong'])('is refused with the token "%s"', async (token) => {
    expect((await hook(token, 'd2')).status).toBe(403)
  })
})

describe('delivery metrics', () => {
  it('count the runs that ended in the window', async () => {
    const path = '/insights/delivery?from=2024-06-01&to=2024-07-01&runs=all&application=shop'
    expect(await get(path)).toMatchObject({
      total: { failedDeployments: 1 },
      applications: [{ application: 'shop' }],
    })
    expect(
      (await ask(service.url, { path: '/insights/delivery?from=2026-02-01&to=2026-01-01' })).status,
    ).toBe(400)
  })
})
