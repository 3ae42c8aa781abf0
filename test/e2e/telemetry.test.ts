import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'

import { attributesOf, startCollector } from '../support/collector.js'
import type { Collector, ReceivedSpan } from '../support/collector.js'
import { ask, objectOf } from '../support/http-client.js'
import { startReceiver } from '../support/receiver.js'
import type { Receiver } from '../support/receiver.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

interface Point {
  readonly asDouble: number
  readonly attributes: Parameters<typeof attributesOf>[0]
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER_SPAN = '00f067aa0ba902b7'
const CALLER = { traceparent: `00-${TRACE}-${CALLER_SPAN}-01` }

const workspace = makeWorkspace({
  'policies/app.rego':
    'package app\n\nimport rego.v1\n\nallow if input.user == "ana"\n\nowner := http.send({"method": "get", "url": input.url}).body.owner\n\nwrong := 1 / input.zero\n',
})
let collector: Collector
let other: Receiver
let service: TidegateProcess | undefined
let dataDirs = 0
beforeEach(async () => {
  collector = await startCollector()
  other = await startReceiver((response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"owner":"ana"}')
  })
})
afterEach(async () => {
  await service?.end('SIGTERM')
  service = undefined
  await Promise.all([collector.close(), other.close()])
})
afterAll(workspace.remove)

async function serve(telemetry: object, workers = 1, more: object = {}): Promise<TidegateProcess> {
  dataDirs += 1
  service = await startTidegate({
    workspace,
    dataDir: `data${dataDirs}`,
    config: {
      server: { workers },
      policies: { requests: { allowedHosts: ['127.0.0.1'] } },
      log: { level: 'debug' },
      telemetry: { ...telemetry },
      ...more,
    },
  })
  return service
}

/** Ends the service, which sends what is waiting. Returns the spans of a trace by name. */
async function spansOf(at: TidegateProcess, traceId = TRACE): Promise<Map<string, ReceivedSpan>> {
  await at.end('SIGTERM')
  return new Map(
    collector.spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span] as const),
  )
}

async function evaluate(at: TidegateProcess, path: string, input: object, headers = CALLER): Promise<string> {
  const answer = await ask(at.url, {
    path: `/v1/data/app/${path}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  return (JSON.parse(answer.text) as { decision_id: string }).decision_id
}

describe.each([1, 2])('a service of %d processes with a collector', (workers) => {
  test('continues the trace of the caller to the evaluation and to requests of policies', async () => {
    const at = await serve({ endpoint: collector.url }, workers)
    const decisionId = await evaluate(at, 'owner', { url: `${other.url}/owner` })
    const spans = await spansOf(at)
    const [served, evaluated, sent] = [spans.get('POST v1/data'), spans.get('evaluate'), spans.get('GET')]
    expect(served).toMatchObject({
      parentSpanId: CALLER_SPAN,
      kind: 2,
      attributes: {
        'http.route': 'v1/data',
        'http.response.status_code': 200,
        'tidegate.decision_id': decisionId,
      },
      resource: { 'service.name': 'tidegate' },
    })
    expect(evaluated).toMatchObject({
      parentSpanId: served?.spanId,
      attributes: { 'tidegate.path': 'app/owner' },
    })
    expect(sent).toMatchObject({
      parentSpanId: evaluated?.spanId,
      kind: 3,
      attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': 200 },
    })
    expect(other.received[0]?.headers['traceparent']).toBe(`00-${TRACE}-${sent?.spanId ?? ''}-01`)
  })

  test('traces the operations of the store of other requests, once', async () => {
    const at = await serve({ endpoint: collector.url }, workers)
    const body = JSON.stringify({ details: { type: 'orca:stage:starting' }, content: {} })
    await ask(at.url, {
      path: '/platform/echo',
      headers: { ...CALLER, 'content-type': 'application/json' },
      body,
    })
    await at.end('SIGTERM')
    const own = collector.spans.filter(({ traceId }) => traceId === TRACE)
    const served = own.filter(({ kind }) => kind === 2)
    expect(served.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['POST platform/echo', CALLER_SPAN],
    ])
    expect(own.filter(({ name }) => name.startsWith('store '))).toMatchObject([
      { parentSpanId: served[0]?.spanId },
    ])
    expect(collector.spans).toHaveLength(own.length)
  })

  test('sends the metrics of /metrics under their names', async () => {
    const at = await serve({ endpoint: collector.url, intervalSeconds: 1 }, workers)
    await evaluate(at, 'allow', { user: 'ana' })
    const found = await waitUntil(
      () => collector.metrics().find(({ name }) => name === 'tidegate_evaluations_total'),
      () =>
        `metrics: ${collector
          .metrics()
          .map(({ name }) => name)
          .join()}`,
    )
    const { sum } = found as unknown as { sum: { isMonotonic: boolean; dataPoints: Point[] } }
    expect(sum.isMonotonic).toBe(true)
    expect(sum.dataPoints.map(({ asDouble, attributes }) => [asDouble, attributesOf(attributes)])).toEqual([
      [1, { kind: 'data', outcome: 'defined' }],
    ])
    const durations = collector.metrics().find(({ name }) => name === 'http_request_duration_seconds')
    const { histogram } = durations as unknown as {
      histogram: { dataPoints: { count: number; bucketCounts: number[]; explicitBounds: number[] }[] }
    }
    for (const { count, bucketCounts, explicitBounds } of histogram.dataPoints) {
      expect(bucketCounts).toHaveLength(explicitBounds.length + 1)
      expect(bucketCounts.reduce((all, each) => all + each, 0)).toBe(count)
    }
  })
})

test('a trace is in the decision log and in the log lines, also without a collector', async () => {
  const at = await serve({})
  const id = await evaluate(at, 'allow', { user: 'ana' })
  await evaluate(at, 'allow', { user: 'bob' }, { traceparent: `00-${'0'.repeat(32)}-${CALLER_SPAN}-01` })
  const { decisions } = JSON.parse((await ask(at.url, { path: '/decisions' })).text) as {
    decisions: { decisionId: string; traceId?: string }[]
  }
  expect(decisions.map(({ decisionId, traceId }) => (decisionId === id ? traceId : [traceId]))).toEqual([
    [undefined],
    TRACE,
  ])
  const line = await untilLogged(at, ({ msg, path }) => msg === 'request' && path === '/v1/data/app/allow')
  expect(line).toMatchObject({ traceId: TRACE })
})

test('a trace is in the records of the trail that a request writes', async () => {
  const at = await serve({})
  await ask(at.url, {
    path: '/platform/echo',
    headers: { ...CALLER, 'content-type': 'application/json' },
    body: JSON.stringify({ eventId: 'e1', details: { type: 'orca:stage:starting' }, content: {} }),
  })
  const { text } = await ask(at.url, { path: '/audit?source=event' })
  const { records } = JSON.parse(text) as { records: { origin?: string }[] }
  expect(records.map(({ origin }) => origin)).toEqual([
    expect.stringMatching(`^127\\.0\\.0\\.1 request \\S+ trace ${TRACE}$`),
  ])
})

test('each attempt to send a callback continues the trace that caused it', async () => {
  const callbacks = await startReceiver((response, place) => {
    response.writeHead(place === 0 ? 503 : 200).end()
  })
  const at = await serve({ endpoint: collector.url }, 1, {
    callbacks: { allowLoopback: true, firstRetrySeconds: 1 },
    gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
  })
  const send = async (method: string, path: string, body: object, headers = {}): Promise<unknown> => {
    const json = { 'content-type': 'application/json', ...headers }
    const answer = await ask(at.url, { method, path, headers: json, body: JSON.stringify(body) })
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    return objectOf(answer)['id']
  }
  const urls = { approvalCallbackURL: callbacks.url, rejectionCallbackURL: callbacks.url }
  const id = await send('POST', '/approvalGates/7/trigger', {
    ...{ ...urls, executionId: 'e1', toolConnectorParameters: '', imageIds: '', connectorType: 'JIRA' },
  })
  await send('PUT', `/approvalGateInstances/${String(id)}/review`, { action: 'approve', comment: '' }, CALLER)
  await callbacks.count(2)
  await callbacks.close()
  await at.end('SIGTERM')
  const served = collector.spans.find(({ traceId, kind }) => traceId === TRACE && kind === 2)
  const sends = collector.spans.filter(({ name }) => name === 'send gate.callback')
  expect(sends.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(
    [0, 1].map(() => [TRACE, served?.spanId]),
  )
  const posts = collector.spans.filter(({ name, traceId }) => name === 'POST' && traceId === TRACE)
  expect(callbacks.received.map(({ headers }) => headers['traceparent'])).toEqual(
    posts.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
  )
})

test('the caller decides about sampling, and others are sampled by the ratio', async () => {
  const at = await serve({ endpoint: collector.url, sampleRatio: 0 })
  await evaluate(at, 'allow', { user: 'ana' })
  await evaluate(at, 'allow', { user: 'bob' }, { traceparent: '' })
  await evaluate(at, 'allow', { user: 'eve' }, { traceparent: `00-${'a'.repeat(32)}-${CALLER_SPAN}-00` })
  await at.end('SIGTERM')
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
})

test('probes and metrics are not traced, and neither are paths with secrets', async () => {
  const at = await serve({ endpoint: collector.url, signals: ['traces'] })
  for (const path of ['/health', '/livez', '/readyz', '/metrics']) await ask(at.url, { path })
  await ask(at.url, { path: '/analysis/report/some-id/secret-token?token=hidden' })
  await at.end('SIGTERM')
  expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(1)
  expect(JSON.stringify(collector.spans)).not.toMatch(/secret-token|hidden/)
})

test('an error of an evaluation is marked in its span', async () => {
  const at = await serve({ endpoint: collector.url })
  await ask(at.url, {
    path: '/v1/data/app/wrong?strict-builtin-errors=true',
    headers: { ...CALLER, 'content-type': 'application/json' },
    body: '{"input":{"zero":0}}',
  })
  const spans = await spansOf(at)
  expect(spans.get('evaluate')?.status).toMatchObject({ code: 2 })
  expect(spans.get('POST v1/data')?.status).toMatchObject({ code: 2 })
})

test.each([
  ['refuses', 503],
  ['does not answer', undefined],
])('a collector that %s neither changes decisions nor keeps the service from ending', async (_, status) => {
  collector.respond(status)
  const at = await serve({ endpoint: collector.url, intervalSeconds: 1 })
  await evaluate(at, 'allow', { user: 'ana' })
  await waitUntil(
    () => (collector.headers.length > 0 ? true : undefined),
    () => 'nothing was sent',
  )
  expect(await evaluate(at, 'allow', { user: 'ana' })).toMatch(/./)
  expect(await at.end('SIGTERM')).toBe(0)
  expect(at.logText()).toContain('the collector receives no traces or metrics')
})

test('the collector receives the configured credentials', async () => {
  workspace.write({ token: 'a token' })
  const credentials = { type: 'bearer', token: { file: `${workspace.path}/token` } }
  const at = await serve({ endpoint: collector.url, credentials })
  await evaluate(at, 'allow', { user: 'ana' })
  await at.end('SIGTERM')
  expect(collector.headers[0]?.authorization).toBe('Bearer a token')
})
