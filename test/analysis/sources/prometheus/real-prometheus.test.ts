import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { INSTANCE_SEPARATOR } from '../../../../src/analysis/sources.js'
import { startLoopbackServer } from '../../../support/loopback-server.js'
import type { LoopbackServer } from '../../../support/loopback-server.js'
import { MINUTE_MS, openSource } from '../../../support/open-source.js'
import type { OpenSource } from '../../../support/open-source.js'
import { hasPrometheus, prometheusNote, startPrometheus } from '../../../support/prometheus-server.js'
import type { PrometheusServer } from '../../../support/prometheus-server.js'

/** Names of pods that would break out of a query, widen a pattern or change it. */
const PODS = [
  'web-1',
  'web.1',
  'webx1',
  'a"b',
  "a'b",
  'a\\b',
  'a|b',
  '.*',
  'x$',
  '[a]',
  'tab\there',
  'ünï',
  'x"} or vector(9) #',
]

/** Two days ago: older than the data that Prometheus keeps in memory. */
const HISTORY_MS = Math.floor(Date.now() / 86_400_000 - 2) * 86_400_000
const SECONDS = 25_000

function escapeLabel(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')
}

/** The small program that is scraped: one gauge a pod, its value the position of the pod. */
function exposition(): string {
  const lines = PODS.map((pod, index) => `pod_position{pod="${escapeLabel(pod)}"} ${index}`)
  return `# TYPE pod_position gauge\n${lines.join('\n')}\n`
}

/** One value every 10 s that counts up, without the third minute. */
function history(): string {
  const samples = Array.from({ length: SECONDS / 10 }, (_, index) => index).filter(
    (index) => index < 12 || index >= 18,
  )
  const lines = samples.map((index) => `load{host="h"} ${index} ${HISTORY_MS / 1000 + index * 10}`)
  return `# TYPE load gauge\n${lines.join('\n')}`
}

describe.skipIf(!hasPrometheus)(`a real Prometheus${prometheusNote}`, () => {
  let program: LoopbackServer
  let prometheus: PrometheusServer
  let source: OpenSource

  beforeAll(async () => {
    program = await startLoopbackServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(exposition())
    })
    prometheus = await startPrometheus({ targets: [`127.0.0.1:${program.port}`], history: history() })
    source = openSource({ type: 'prometheus', url: prometheus.url })
    await prometheus.waitFor('pod_position')
  })
  afterAll(async () => {
    await source.close()
    await prometheus.stop()
    await program.close()
  })

  /** The last minute up to a second from now. */
  const lately = (): { startMs: number; endMs: number; stepMs: number } => ({
    startMs: Date.now() - 60_000,
    endMs: Date.now() + 1000,
    stepMs: 1000,
  })

  test('gives what a program shows', async () => {
    const answer = await source.fetchSeries({ ...lately(), query: 'sum(pod_position)' })
    expect(answer).toMatchObject({ state: 'complete', warnings: [] })
    expect(answer.values.filter((value) => !Number.isNaN(value))).toContain(
      (PODS.length * (PODS.length - 1)) / 2,
    )
  })

  const templates = [
    'pod_position{pod="${pod}"}',
    "pod_position{pod='${pod}'}",
    'pod_position{pod=~"${pod}"}',
    'pod_position{pod=~`${pod}`}',
    'pod_position{pod=~"(?:nothing|${pod})"} # "${"',
    'sum(pod_position) - sum(pod_position{pod!~"${pod}"})',
    'sum(pod_position) - sum(pod_position{pod!="${pod}"})',
  ]
  test.each(templates)('finds the pod that the scope names, and only that, with %s', async (query) => {
    for (const [index, pod] of PODS.entries()) {
      const answer = await source.fetchSeries({ ...lately(), query, scope: { pod } })
      expect(answer, pod).toMatchObject({ state: 'complete' })
      expect(new Set(answer.values.filter((value) => !Number.isNaN(value))), pod).toEqual(new Set([index]))
    }
  })

  test('finds all pods that the scope names, and only them', async () => {
    const scope = { pod: [PODS[3], PODS[6], PODS[12]].join(INSTANCE_SEPARATOR) }
    const answer = await source.fetchSeries({ ...lately(), query: 'sum(pod_position{pod=~"${pod}"})', scope })
    expect(new Set(answer.values.filter((value) => !Number.isNaN(value)))).toEqual(new Set([3 + 6 + 12]))
  })

  test('knows which instances ran in a window, and from when to when', async () => {
    const window = { startMs: HISTORY_MS, endMs: HISTORY_MS + 600_000, stepMs: 10_000 }
    const query = { ...window, query: 'load', label: 'host' }
    const instance = { name: 'h', firstMs: HISTORY_MS, lastMs: HISTORY_MS + 600_000, value: 60 }
    expect(await source.fetchInstances(query)).toEqual({ instances: [instance] })
  })

  test('gives 25,000 steps though it refuses more than 11,000 at once', async () => {
    const endMs = HISTORY_MS + SECONDS * 1000
    const answer = await source.fetchSeries({ query: 'load', startMs: HISTORY_MS, endMs, stepMs: 1000 })
    expect(answer).toMatchObject({ state: 'complete', startMs: HISTORY_MS, truncatedPoints: 0 })
    expect(answer.values).toHaveLength(SECONDS)
    expect(
      [...answer.values].filter((value, second) => second >= 180 && value !== Math.floor(second / 10)),
    ).toEqual([])
  })

  test('leaves the steps empty in which there was nothing', async () => {
    const window = { startMs: HISTORY_MS, endMs: HISTORY_MS + 300_000, stepMs: 30_000 }
    const answer = await source.fetchSeries({ ...window, query: 'last_over_time(load[9s])' })
    expect([...answer.values]).toEqual([0, 3, 6, 9, NaN, NaN, 18, 21, 24, 27])
  })

  test.each([
    ['load{host="nobody"}', { state: 'empty', reasons: [] }],
    ['vector(0) / 0', { state: 'empty', warnings: [] }],
    ['vector(1) / 0', { state: 'empty', warnings: ['infinite values, which count as gaps: 10'] }],
    [
      'load{',
      { state: 'failed', reasons: [expect.stringMatching(/^main answered 400: bad_data: .*parse error/)] },
    ],
    ['load[5m]', { state: 'failed', reasons: [expect.stringContaining('bad_data')] }],
  ])('answers %s with its state', async (query, expected) => {
    const window = { startMs: HISTORY_MS, endMs: HISTORY_MS + 10 * MINUTE_MS }
    expect(await source.fetchSeries({ ...window, query })).toMatchObject(expected)
  })

  test('gives several series only where they are joined', async () => {
    const query = { ...lately(), query: 'pod_position' }
    expect(await source.fetchSeries(query)).toMatchObject({
      state: 'failed',
      reasons: [expect.stringContaining(`the query gives ${PODS.length} series`)],
    })
    const { values } = await source.fetchSeries({ ...query, aggregate: 'max' })
    expect(new Set(values.filter((value) => !Number.isNaN(value)))).toEqual(new Set([PODS.length - 1]))
  })
})
