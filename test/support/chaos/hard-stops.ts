import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'

import { ENDLESS_POLICY } from '../endless-policy.js'
import { ask, postJson } from '../http-client.js'
import { startLoopbackServer } from '../loopback-server.js'
import type { LoopbackServer } from '../loopback-server.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { waitUntil } from '../wait-until.js'
import { makeWorkspace } from '../workspace.js'

/** The work of a service when it is stopped. */
type HeldUpBy = 'evaluations without end' | 'exports that nobody reads' | 'looks at a silent source'

interface HardStopResult {
  readonly heldUpBy: HeldUpBy
  /** The outstanding responses: status and text, with status 0 if none arrived. */
  readonly answers: readonly { readonly status: number; readonly text: string }[]
  readonly code: number | null
  /** From the signal to the end of the process, in milliseconds. */
  readonly durationMs: number
}

interface Surroundings {
  readonly tidegate: TidegateProcess
  readonly source: LoopbackServer
}

type Answers = HardStopResult['answers']

const RUNAWAYS = 6
const READERS = 6
const LOOKS = 4
/** One megabyte each, more than the buffers of an unread connection. */
const EVENTS = 24
const HOUR_MS = 3_600_000

/**
 * Each starts work that delays a stop. Resolves once it is running, with a function that returns
 * the responses.
 */
const BEGIN: Readonly<Record<HeldUpBy, (around: Surroundings) => Promise<() => Promise<Answers>>>> = {
  'evaluations without end': async ({ tidegate: { url } }) => {
    const asked = Array.from({ length: RUNAWAYS }, () =>
      postJson(url, '/v1/staticPolicy/eval', { input: { size: 1_000_000 } }).catch(noAnswer),
    )
    await untilSo(async () => (await figure(url, 'tidegate_slow_evaluations_queued')) > 0)
    return () => Promise.all(asked)
  },
  'exports that nobody reads': async ({ tidegate: { url } }) => {
    const content = 'x'.repeat(1_000_000)
    for (let n = 0; n < EVENTS; n += 1)
      await postJson(url, '/platform/echo', { eventId: `e${n}`, name: 'n', content })
    const readers = await Promise.all(Array.from({ length: READERS }, () => beginExport(url)))
    return () => {
      for (const reader of readers) reader.destroy()
      return Promise.resolve([])
    }
  },
  'looks at a silent source': async ({ tidegate: { url }, source }) => {
    const canaryStartTimeMs = Date.now() - HOUR_MS
    const side = (version: string): object => ({ metric: { shop: { version } } })
    const deployment = { canaryStartTimeMs, baseline: side('stable'), canary: side('canary') }
    for (let n = 0; n < LOOKS; n += 1) {
      await postJson(url, '/autopilot/api/v5/registerCanary', {
        application: 'shop',
        canaryDeployments: [deployment],
      })
    }
    await untilSo(() => Promise.resolve(source.seen.length > 0))
    return () => Promise.resolve([])
  },
}

/** Kinds of work that may delay a stop. */
export const HARD_STOPS = Object.keys(BEGIN) as readonly HeldUpBy[]

/** Stops a service (SIGTERM) that has something under way which does not end by itself. */
export async function stopHeldUpBy(
  heldUpBy: HeldUpBy,
  settings: { drainSeconds?: number; maxDurationMs?: number } = {},
): Promise<HardStopResult> {
  const { drainSeconds = 10, maxDurationMs = 2000 } = settings
  const workspace = makeWorkspace({ 'policies/q.rego': ENDLESS_POLICY })
  const source = await startLoopbackServer(() => undefined)
  const canaryConfig = { metrics: [{ name: 'load', query: { customInlineTemplate: 'PromQL:load' } }] }
  workspace.write({
    'definitions/shop.json': JSON.stringify({
      lifetimeMinutes: 30,
      metrics: { source: 'silent', canaryConfig },
    }),
  })
  try {
    const tidegate = await startTidegate({
      workspace,
      config: {
        server: { drainSeconds },
        policies: { limits: { maxDurationMs, loopIterations: 2_000_000_000 } },
        analysis: {
          definitions: join(workspace.path, 'definitions'),
          sources: [{ name: 'silent', type: 'prometheus', url: source.origin }],
        },
      },
    })
    const answers = await BEGIN[heldUpBy]({ tidegate, source })
    const signalledAt = performance.now()
    const code = await tidegate.end('SIGTERM')
    const durationMs = performance.now() - signalledAt
    return { heldUpBy, answers: await answers(), code, durationMs }
  } finally {
    await source.close()
    workspace.remove()
  }
}

/** Requests the whole trail and reads only its start. */
async function beginExport(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write('GET /audit/export?format=ndjson&bodies=true HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return socket
}

async function figure(url: string, name: string): Promise<number> {
  const { text } = await ask(url, { path: '/metrics' })
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

async function untilSo(isSo: () => Promise<boolean>): Promise<void> {
  await waitUntil(
    async () => (await isSo()) || undefined,
    () => 'nothing is under way',
  )
}

function noAnswer(raw: unknown): { status: number; text: string } {
  return { status: 0, text: String(raw) }
}
