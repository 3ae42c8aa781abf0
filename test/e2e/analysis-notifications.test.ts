import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { latencies } from '../support/analysis-files.js'
import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { analysisIn, FILE_ANALYSIS } from '../support/file-analysis.js'
import { findProgram, runProgram } from '../support/find-program.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { hasPrometheus, prometheusNote, startPrometheus } from '../support/prometheus-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const MINUTE_MS = 60_000

const workspace = makeWorkspace()
const promtool = findProgram('promtool')
let receiver: CallbackReceiver
let tidegate: TidegateProcess

beforeAll(async () => {
  receiver = await startReceiver()
  workspace.write({
    'policies/release.rego': 'package release\n\nallow := true\n',
    hook: `${receiver.url}/services/T01/secret-of-the-chat\n`,
    'definitions/shop.json': JSON.stringify({
      ...FILE_ANALYSIS,
      intervalMinutes: 30,
      scopes: { ...FILE_ANALYSIS.scopes, canary: { version: 'slow' } },
    }),
    'data/stable.csv': latencies(100),
    'data/slow.csv': latencies(300),
  })
  tidegate = await startTidegate({
    workspace,
    config: {
      server: { publicUrl: 'https://tidegate.example.org' },
      analysis: {
        ...analysisIn(workspace.path),
        notifications: [{ url: { file: `${workspace.path}/hook` } }],
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await receiver.close()
  workspace.remove()
})

test('a chat is told of a canary that fails while its analysis still runs, signed and without showing where', async () => {
  const body = {
    application: 'shop',
    canaryDeployments: [{ canaryStartTimeMs: String(Date.now() - 32 * MINUTE_MS) }],
  }
  const { canaryId } = objectOf(await postJson(tidegate.url, '/autopilot/api/v3/registerCanary', body))
  const message = await waitUntil(
    () => receiver.received[0],
    () => `nobody is told: ${tidegate.logText()}`,
  )
  expect(message.path).toBe('/services/T01/secret-of-the-chat')
  expect(message.body).toMatchObject({
    type: 'analysis.fail',
    text: expect.stringContaining('Beyond doubt: latency. All values are far above') as string,
    data: { analysis: canaryId, application: 'shop', state: 'RUNNING', verdict: 'Fail', interval: 1 },
  })
  const { data } = message.body as { data: { reportUrl: string; chartUrl: string } }
  const [link, chart] = [new URL(data.reportUrl), new URL(data.chartUrl)]
  expect(link.origin).toBe('https://tidegate.example.org')
  expect((await ask(tidegate.url, { path: link.pathname })).status).toBe(200)
  expect(chart.pathname).toBe(`${link.pathname}/chart.png`)
  const picture = await ask(tidegate.url, { path: chart.pathname })
  expect(picture).toMatchObject({ status: 200, headers: { 'content-type': 'image/png' } })
  expect((await ask(tidegate.url, { path: chart.pathname.replace(/-[\w-]{43}/, '') })).status).toBe(403)

  const secret = readFileSync(`${workspace.path}/data/callback-secret`, 'utf8').trim()
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, String(value)]),
  )
  expect(new Webhook(secret).verify(message.text, headers)).toEqual(message.body)

  const listed = await waitUntil(
    async () => {
      const { text } = await ask(tidegate.url, { path: `/outbox?subject=analysis:${String(canaryId)}:fail` })
      return text.includes('"delivered"') ? text : undefined
    },
    () => 'the message is not delivered',
  )
  const trail = await ask(tidegate.url, { path: '/audit?kind=analysis.notification.delivered' })
  for (const text of [listed, trail.text, tidegate.logText()])
    expect(text).not.toContain('secret-of-the-chat')
  expect(trail.text).toContain('analysis.notification.delivered')
})

const VERDICTS = 'tidegate_analysis_intervals_total'

test('the figures are in the format that is asked for, and only OpenMetrics names the run', async () => {
  const plain = await ask(tidegate.url, { path: '/metrics' })
  const accept = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  const open = await ask(tidegate.url, { path: '/metrics', headers: { accept } })
  expect(plain.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(plain.text).toContain(`# TYPE ${VERDICTS} counter\n${VERDICTS}{verdict="Fail"} 1\n`)
  expect(open.text).toMatch(
    /^tidegate_analysis_intervals_total\{verdict="Fail"\} 1 # \{run="\d+"\} 1 [\d.]+$/m,
  )
  expect(open.text.endsWith('\n# EOF\n')).toBe(true)
  expect(seriesIn(open.text)).toEqual(seriesIn(plain.text))
})

test.skipIf(promtool === undefined)(
  'the plain figures are as promtool wants them (needs promtool)',
  async () => {
    workspace.write({ 'figures.txt': (await ask(tidegate.url, { path: '/metrics' })).text })
    const checked = runProgram('sh', ['-c', `"${promtool}" check metrics < figures.txt`], workspace.path)
    for (const complaint of ['error while linting', 'tidegate_analysis']) {
      expect(checked.output).not.toContain(complaint)
    }
  },
)

test.skipIf(!hasPrometheus)(`leads Prometheus from a verdict to its run${prometheusNote}`, async () => {
  const prometheus = await startPrometheus({ targets: [new URL(tidegate.url).host] })
  try {
    expect(await prometheus.waitFor(`${VERDICTS}{verdict="Fail"}`)).toBe(1)
    expect(await prometheus.waitFor('tidegate_analysis_metric_value{side="canary"}')).toBeGreaterThan(250)
    const { run } = await prometheus.waitForExemplar(VERDICTS)
    expect((await ask(tidegate.url, { path: `/analysis/${run}` })).status).toBe(200)
  } finally {
    await prometheus.stop()
  }
})

/** The series of our own in a text of figures, sorted. */
function seriesIn(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('tidegate_'))
  return lines.map((line) => line.replace(/(?<=\}| |^\w+) .*$/, '')).toSorted()
}
