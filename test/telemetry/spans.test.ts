import { AsyncLocalStorage } from 'node:async_hooks'

import { TraceFlags } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { RandomIdGenerator } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import { setUnrefTimer } from '../../src/main/timers/repeat.js'
import { makeSampler } from '../../src/telemetry/open-telemetry.js'
import type { RecordedSpan } from '../../src/telemetry/recorded-span.js'
import { Spans } from '../../src/telemetry/spans.js'
import type { TracedRequest } from '../../src/telemetry/telemetry.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER_SPAN = '00f067aa0ba902b7'

function record(isSampled: boolean): { readonly spans: Spans; readonly ended: RecordedSpan[] } {
  const ended: RecordedSpan[] = []
  const spans = new Spans({
    resource: resourceFromAttributes({}),
    scope: { name: 'test' },
    ids: new RandomIdGenerator(),
    isSampled: () => isSampled,
    ended: (span) => ended.push(span),
  })
  return { spans, ended }
}

function requestWith(headers: Readonly<Record<string, string>>): TracedRequest {
  return {
    ...{ method: 'POST', handler: 'v1/data', status: 200, requestId: 'r1', decisionId: undefined },
    traceId: undefined,
    header: (name) => headers[name],
  }
}

/** Answers a request that sends another one. Returns the headers of the latter. */
async function headersSent(spans: Spans, request: TracedRequest): Promise<Record<string, string>> {
  const sent: Record<string, string> = {}
  await spans.traceRequest(request, async () => {
    await Promise.resolve()
    const span = spans.startSent(
      'GET',
      () => ({}),
      (name, value) => (sent[name] = value),
    )
    span?.end(undefined)
  })
  return sent
}

test('a request that is not sampled has no spans, and its requests have no headers', async () => {
  const { spans, ended } = record(false)
  const request = requestWith({})
  expect(await headersSent(spans, request)).toEqual({})
  expect([ended, request.traceId]).toEqual([[], undefined])
})

test('a request that its caller does not sample passes the trace on without a span', async () => {
  const { spans, ended } = record(true)
  const headers = { traceparent: `00-${TRACE}-${CALLER_SPAN}-00`, tracestate: 'vendor=1' }
  expect(await headersSent(spans, requestWith(headers))).toEqual(headers)
  expect(ended).toEqual([])
})

test('a request that its caller samples is recorded whatever the ratio', async () => {
  const { spans, ended } = record(false)
  const request = requestWith({ traceparent: `00-${TRACE}-${CALLER_SPAN}-01`, tracestate: 'vendor=1' })
  const sent = await headersSent(spans, request)
  const [outgoing, served] = ended
  expect(served?.parentSpanContext).toMatchObject({ spanId: CALLER_SPAN, isRemote: true })
  expect(outgoing?.parentSpanContext?.spanId).toBe(served?.spanContext().spanId)
  expect(sent).toEqual({
    traceparent: `00-${TRACE}-${outgoing?.spanContext().spanId ?? ''}-01`,
    tracestate: 'vendor=1',
  })
  expect(request.traceId).toBe(TRACE)
})

test.each(['', 'no trace', `00-${'0'.repeat(32)}-${CALLER_SPAN}-01`, `ff-${TRACE}-${CALLER_SPAN}-01`])(
  'a request with the invalid traceparent %j begins a trace',
  async (traceparent) => {
    const { spans, ended } = record(true)
    await headersSent(spans, requestWith({ traceparent }))
    expect(ended.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      ended[1]?.spanContext().spanId,
      undefined,
    ])
    expect(ended[1]?.spanContext()).toMatchObject({ traceFlags: TraceFlags.SAMPLED })
  },
)

test('work outside of a trace is only done, unless it may begin one', async () => {
  const { spans, ended } = record(true)
  expect(await spans.inSpan('store read', {}, () => 1)).toBe(1)
  expect(ended).toEqual([])
  await spans.inTrace('callback', {}, () => spans.inTrace('store read', {}, () => 1))
  expect(ended.map(({ name }) => name)).toEqual(['store read', 'callback'])
  expect(ended[0]?.parentSpanContext).toEqual(ended[1]?.spanContext())
})

test.each([
  [
    'throws',
    () => {
      throw busy()
    },
  ],
  ['rejects', () => Promise.reject(busy())],
])('work that %s is marked as an error and raises it', async (_, work) => {
  const { spans, ended } = record(true)
  await expect(async () => spans.inTrace('work', {}, work)).rejects.toThrow('it is busy')
  expect(ended).toMatchObject([
    { attributes: { 'error.type': 'unavailable' }, status: { code: 2 }, ended: true },
  ])
})

test('work for a stored trace continues it, and not the current one', async () => {
  const { spans, ended } = record(false)
  await spans.traceRequest(
    requestWith({ traceparent: `00-${'a'.repeat(32)}-${CALLER_SPAN}-01` }),
    async () => {
      await spans.inTrace('send', {}, () => undefined, `00-${TRACE}-${CALLER_SPAN}-01`)
      const within = await spans.inTrace(
        'send',
        {},
        () => spans.traceparent(),
        `00-${TRACE}-${CALLER_SPAN}-00`,
      )
      expect(within).toBe(`00-${TRACE}-${CALLER_SPAN}-00`)
    },
  )
  expect(ended.map(({ name, parentSpanContext }) => [name, parentSpanContext?.traceId])).toEqual([
    ['send', TRACE],
    ['POST v1/data', 'a'.repeat(32)],
  ])
})

function busy(): AppError {
  return new AppError('unavailable', 'it is busy')
}

test('a span ends no earlier than it starts, and after the spans within it', async () => {
  const { spans, ended } = record(true)
  await spans.inTrace('outer', {}, () => spans.inTrace('inner', {}, () => 1))
  const [inner, outer] = ended.map(({ startTime, endTime }) => ({
    start: startTime[0] * 1e9 + startTime[1],
    end: endTime[0] * 1e9 + endTime[1],
  }))
  const times = [outer?.start, inner?.start, inner?.end, outer?.end]
  expect(times).toEqual(times.toSorted((a = 0, b = 0) => a - b))
})

test('a limited number of traces begins in a second', () => {
  let nowMs = 5000
  const isSampled = makeSampler({ sampleRatio: 1, maxTracesPerSecond: 2 }, () => nowMs)
  const begun = (): number => Array.from({ length: 5 }, isSampled).filter(Boolean).length
  const first = begun()
  nowMs += 1000
  expect([first, begun()]).toEqual([2, 2])
  const never = makeSampler({ sampleRatio: 0, maxTracesPerSecond: 2 }, () => nowMs)
  expect(never()).toBe(false)
})

test('a timer does not keep the context of the request that sets it', async () => {
  const requests = new AsyncLocalStorage<string>()
  const seen = await requests.run(
    'r1',
    () => new Promise((resolve) => setUnrefTimer(() => resolve(requests.getStore()), 0)),
  )
  expect(seen).toBeUndefined()
})
