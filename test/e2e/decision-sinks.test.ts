import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { newerOpa } from '../support/compilers.js'
import { startEventReceiver } from '../support/event-receiver.js'
import type { SentEvent } from '../support/event-receiver.js'
import { ask, postJson } from '../support/http-client.js'
import { startOpa } from '../support/opa-server.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { useEventReceiver } from '../support/use-event-receiver.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
workspace.write({
  'policies/app.rego': 'package app\n\nimport rego.v1\n\necho := input\n',
  'opa/app.rego':
    'package app\n\nimport rego.v1\n\nallow := input.user == "ana"\n\nnow := time.now_ns()\n\nbad if 1 / input.zero\n',
  'opa/mask.rego':
    'package system.log\n\nimport rego.v1\n\nmask contains {"op": "upsert", "path": "/input/card", "value": "[masked]"} if input.input.card\n',
  'upload-token': 'the token of the uploads',
})
afterAll(workspace.remove)
const { receiver, start, untilEvents } = useEventReceiver()

async function serve(dataDir: string, more: object = {}, policies = 'policies'): Promise<TidegateProcess> {
  const credentials = { type: 'bearer', token: { file: join(workspace.path, 'upload-token') } }
  const central = { name: 'central', type: 'opa', url: receiver().url, credentials, minDelaySeconds: 1 }
  const file = { name: 'file', type: 'file', path: join(workspace.path, `${dataDir}.jsonl`) }
  const config = { decisions: { sinks: [central, file], mask: ['/card'], ...more } }
  return await start({ workspace, dataDir, config, directories: [policies] })
}

async function decide(at: TidegateProcess, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await postJson(at.url, '/v1/data/app/echo', { input: { index, card: '4111' } })
}

function linesOf(dataDir: string): Record<string, unknown>[] {
  const text = readFileSync(join(workspace.path, `${dataDir}.jsonl`), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('decisions reach a service and a file, masked, with the credentials of the sink', async () => {
  const at = await serve('both')
  await decide(at, 3)
  await untilEvents(3)
  await at.end('SIGTERM')
  expect(receiver().events).toMatchObject(
    [0, 1, 2].map((index) => ({
      path: 'app/echo',
      input: { index, card: '[masked]' },
      masked: ['/input/card', '/result/card'],
    })),
  )
  expect(linesOf('both')).toEqual(receiver().events)
  expect(receiver().uploads[0]?.headers.authorization).toBe('Bearer the token of the uploads')
})

test('a service that was away receives every decision once, also over a restart', async () => {
  receiver().respond(503)
  const first = await serve('away')
  await decide(first, 5)
  await waitUntil(
    async () =>
      (await ask(first.url, { path: '/health?plugins' })).text.includes('does not have yet: 5')
        ? true
        : undefined,
    () => `${receiver().uploads.length} uploads`,
  )
  const health = await ask(first.url, { path: '/health?plugins' })
  expect(health.text).toContain('decisions that sink central does not have yet')
  const metrics = await ask(first.url, { path: '/metrics' })
  expect(metrics.text).toContain('tidegate_decision_sink_waiting{sink="central"} 5')
  await first.end('SIGTERM')
  receiver().respond(200)
  const second = await serve('away')
  await decide(second, 2)
  await untilEvents(7)
  await second.end('SIGTERM')
  const ids = receiver().events.map(({ decision_id: id }) => id)
  expect(ids).toHaveLength(7)
  expect(new Set(ids).size).toBe(7)
})

interface OtlpUpload {
  readonly resourceLogs: readonly [
    {
      readonly resource: { readonly attributes: readonly object[] }
      readonly scopeLogs: readonly [
        { readonly logRecords: readonly { readonly body: { readonly stringValue: string } }[] },
      ]
    },
  ]
}

test('an OpenTelemetry collector receives decisions as log records of the trace', async () => {
  const sink = { name: 'otel', type: 'otlp', url: receiver().url, minDelaySeconds: 1, labels: { site: 'a' } }
  const at = await serve('otlp', { sinks: [sink] })
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await ask(at.url, {
    path: '/v1/data/app/echo',
    headers: {
      'content-type': 'application/json',
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    },
    body: '{"input":{"card":"4111"}}',
  })
  await untilEvents(1)
  expect(receiver().uploads[0]).toMatchObject({
    path: '/v1/logs',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
  const [{ resource, scopeLogs }] = (receiver().events[0] as unknown as OtlpUpload).resourceLogs
  expect(resource.attributes).toContainEqual({ key: 'site', value: { stringValue: 'a' } })
  const [record] = scopeLogs[0].logRecords
  expect(record).toMatchObject({ traceId, severityNumber: 9, eventName: 'tidegate.decision' })
  expect(record).toMatchObject({ timeUnixNano: expect.stringMatching(/^\d{19}$/) as string })
  expect(JSON.parse(record?.body.stringValue ?? '')).toMatchObject({
    path: 'app/echo',
    input: { card: '[masked]' },
    trace_id: traceId,
  })
})

const typesOf = (event: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(event)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, Array.isArray(value) ? 'array' : typeof value]),
  )

test.skipIf(newerOpa() === undefined)(
  'events have the members, types and values of those of OPA',
  async () => {
    const requests: readonly (readonly [path: string, body: object])[] = [
      ['/v1/data/app/allow', { input: { user: 'ana', card: '4111' } }],
      ['/v1/data/app/now', { input: { user: 'bob' } }],
      ['/v1/data/app/absent', { input: 1 }],
      ['/v1/data/app/bad?strict-builtin-errors=true', { input: { zero: 0 } }],
    ]
    const ofOpa = await startEventReceiver()
    const settings = {
      'services.s.url': ofOpa.url,
      'decision_logs.service': 's',
      'decision_logs.reporting.min_delay_seconds': '1',
      'decision_logs.reporting.max_delay_seconds': '1',
      nd_builtin_cache: 'true',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
    const opa = await startOpa([...flags, join(workspace.path, 'opa')], newerOpa())
    const at = await serve('opa-format', {}, 'opa')
    for (const [path, body] of requests) {
      await postJson(opa.url, path, body)
      await postJson(at.url, path, body)
    }
    await untilEvents(requests.length)
    await untilEvents(requests.length, ofOpa)
    await opa.stop()
    await ofOpa.close()
    const [upload] = receiver().uploads
    const [uploadOfOpa] = ofOpa.uploads
    expect(upload?.path).toBe(uploadOfOpa?.path)
    for (const name of ['content-type', 'content-encoding'])
      expect(upload?.headers[name]).toBe(uploadOfOpa?.headers[name])
    for (const [index, event] of receiver().events.entries()) {
      // Without the members that OPA does not have.
      const own: SentEvent = { ...event, custom: undefined, revision: undefined }
      const theirs = ofOpa.events[index] ?? {}
      expect(typesOf(theirs)).toMatchObject(typesOf(own))
      for (const name of ['path', 'input', 'masked', 'erased']) expect(own[name]).toEqual(theirs[name])
      if (theirs['path'] !== 'app/now') expect(own['result']).toEqual(theirs['result'])
    }
  },
)
