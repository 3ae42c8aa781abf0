import { join } from 'node:path'

import { startReceiver } from '../callback-receiver.js'
import { FILE_ANALYSIS } from '../file-analysis.js'
import { ask, objectOf, postJson } from '../http-client.js'
import { threadTimeMs } from '../thread-times.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import type { Workspace } from '../workspace.js'
import { WORST_FILLINGS } from './worst-fillings.js'
import { WEBHOOK_TOKEN, fillBody, writeRoutes } from './write-routes.js'
import type { WriteRoute } from './write-routes.js'

/** The result of one body, and of concurrent cheap decisions. */
export interface BodyOutcome {
  readonly route: string
  /** The body of the route and its filling. */
  readonly body: string
  /** Of the body, in bytes. */
  readonly bytes: number
  /** 0 without an answer. */
  readonly status: number
  readonly text: string
  readonly durationMs: number
  readonly longestCheapMs: number
  /**
   * The longest CPU time of the deciding thread while one of them waited. NaN if the system does
   * not report it.
   */
  readonly decidingMs: number
}

/**
 * A selection of all bodies: those whose route or filling has a text in its name, and of those one
 * in `every`.
 */
interface BodyChoice {
  readonly route?: string
  readonly filling?: string
  readonly oneIn?: number
}

const POLICIES = {
  'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow if input.a == 1\n',
  'policies/static.rego':
    'package static.names\n\nimport rego.v1\n\ndeny contains "no" if input.new.application == "other"\n',
}
const YAML = { 'content-type': 'application/yaml' }
const JSON_TYPE = { 'content-type': 'application/json' }
const NOWHERE = 'http://127.0.0.1:9'
const CHEAP_PAUSE_MS = 10
const YAML_BYTES = 256 * 1024

/**
 * Sends every worst body of every route to one service of its own, one after another, and stops it.
 */
export async function runWorstBodies(
  choice: BodyChoice,
  finished: (outcome: BodyOutcome) => void = () => undefined,
): Promise<{ outcomes: BodyOutcome[]; exitCode: number | null }> {
  const workspace = makeWorkspace(POLICIES)
  const receiver = await startReceiver()
  try {
    const tidegate = await start(workspace)
    await postJson(tidegate.url, '/approvalGates/1/trigger', {
      executionId: 'one',
      approvalCallbackURL: receiver.url,
      rejectionCallbackURL: receiver.url,
      toolConnectorParameters: '',
      imageIds: '',
      connectorType: '',
    })
    const outcomes: BodyOutcome[] = []
    for (const { route, name, body, headers } of bodiesOf(choice)) {
      const outcome = await sendBeside(tidegate, route, name, body(), headers)
      outcomes.push(outcome)
      finished(outcome)
    }
    return { outcomes, exitCode: await tidegate.end('SIGTERM') }
  } finally {
    await receiver.close()
    workspace.remove()
  }
}

async function start(workspace: Workspace): Promise<TidegateProcess> {
  workspace.write({ 'definitions/shop.json': JSON.stringify(FILE_ANALYSIS), token: WEBHOOK_TOKEN })
  return await startTidegate({
    workspace,
    config: {
      callbacks: { allowLoopback: true },
      gates: { definitions: [{ id: 1, name: 'Release', application: 'shop' }] },
      orchestrator: { webhookToken: { file: join(workspace.path, 'token') }, gateUrl: NOWHERE },
      analysis: {
        sources: [{ name: 'files', type: 'file', directory: workspace.path }],
        definitions: join(workspace.path, 'definitions'),
      },
    },
  })
}

interface Sent {
  readonly route: WriteRoute
  readonly name: string
  readonly body: () => string
  readonly headers: Readonly<Record<string, string>>
}

/** In JSON everywhere, and in YAML for policies. */
function* bodiesOf({ route: wanted = '', filling: of = '', oneIn = 1 }: BodyChoice): Generator<Sent> {
  let at = 0
  for (const route of writeRoutes()) {
    if (!`${route.method} ${route.path}`.includes(wanted)) continue
    const isPolicy = /^\/v[01]\/data|^\/$/.test(route.path)
    for (const body of route.bodies) {
      for (const [filling, fill] of Object.entries(WORST_FILLINGS)) {
        if (!filling.includes(of) || at++ % oneIn !== 0) continue
        const name = `${body} of ${filling}`
        yield { route, name, body: () => fillBody(route, body, fill), headers: JSON_TYPE }
        if (!isPolicy) continue
        const small = { ...route, maxBytes: YAML_BYTES - 8 }
        // The comment makes it no JSON, so that the reader of YAML gets it.
        const inYaml = (): string => `${fillBody(small, body, fill)}\n#\n`
        yield { route, name: `${name}, as YAML`, body: inYaml, headers: YAML }
      }
    }
  }
}

async function sendBeside(
  { url, pid }: TidegateProcess,
  route: WriteRoute,
  name: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): Promise<BodyOutcome> {
  const { method, path } = route
  const body = Buffer.from(text)
  let isOver = false
  const cheap = sendCheapRequests({ url, pid }, () => isOver)
  const beginMs = performance.now()
  const answer = await ask(url, { method, path, body, headers: { ...headers, ...route.headers } }).catch(
    (raw: unknown) => ({ status: 0, text: String(raw) }),
  )
  const durationMs = performance.now() - beginMs
  isOver = true
  return {
    route: `${method} ${path}`,
    body: name,
    bytes: body.length,
    status: answer.status,
    text: answer.text.slice(0, 300),
    durationMs,
    ...(await cheap),
  }
}

async function sendCheapRequests(
  { url, pid }: Pick<TidegateProcess, 'url' | 'pid'>,
  isOver: () => boolean,
): Promise<Pick<BodyOutcome, 'longestCheapMs' | 'decidingMs'>> {
  let longestCheapMs = 0
  let decidingMs = 0
  do {
    const beginMs = performance.now()
    const workedMs = threadTimeMs(pid, pid)
    const answer = await postJson(url, '/v1/data/app/allow', { input: { a: 1 } })
    if (objectOf(answer)['result'] !== true) throw new Error(`a cheap decision is ${answer.text}`)
    longestCheapMs = Math.max(longestCheapMs, performance.now() - beginMs)
    decidingMs = Math.max(decidingMs, threadTimeMs(pid, pid) - workedMs)
    await new Promise((resolve) => setTimeout(resolve, CHEAP_PAUSE_MS))
  } while (!isOver())
  return { longestCheapMs, decidingMs }
}
