import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { ServerResponse } from 'node:http'

import { PROJECT_ROOT } from '../project-root.js'
import { hasPrometheus, startPrometheus } from '../prometheus-server.js'
import { startTidegate } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import { startOrchestrator } from './orchestrator.js'
import type { Orchestrator } from './orchestrator.js'
import { ask } from '../http-client.js'
import { respondJson, startLoopbackServer } from '../loopback-server.js'
import type { SeenRequest, LoopbackServer } from '../loopback-server.js'

/** Everything that runs during the demo. */
export interface Parts {
  readonly tidegateUrl: string
  readonly prometheusUrl: string
  readonly isRealPrometheus: boolean
  readonly orchestrator: Orchestrator
  /** The token with which `ana` signs in, created for each demo. */
  readonly token: string
  /** Data directory of the service, removed at the end. */
  readonly dataDir: string
}

interface PartsSettings {
  /** Takes the small server even where Prometheus is installed. */
  readonly withSmallPrometheus: boolean
  readonly ended: AbortSignal
  readonly failed: (error: unknown) => void
  /** Registers a function that is called at the end, in the order of the starts. */
  readonly onClose: (close: () => unknown) => void
}

const TOKEN_BYTES = 6

/**
 * Starts the shop, Prometheus, Tidegate and the orchestrator, all on free ports of loopback and in
 * a folder of their own.
 */
export async function startParts(settings: PartsSettings): Promise<Parts> {
  const { withSmallPrometheus, ended, failed, onClose } = settings
  const workspace = makeWorkspace({ 'definitions/shop.json': JSON.stringify(ANALYSIS) })
  onClose(workspace.remove)
  const shop = await startShop()
  onClose(shop.close)
  const isRealPrometheus = hasPrometheus && !withSmallPrometheus
  const prometheus = isRealPrometheus
    ? await startPrometheus({ targets: [`127.0.0.1:${shop.port}`] })
    : await startSmallPrometheus(shop.origin)
  onClose(prometheus.stop)
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const directories = [join(PROJECT_ROOT, 'policies')]
  const config = configuration(workspace.path, prometheus.url, token)
  const tidegate = await startTidegate({ workspace, directories, config })
  onClose(() => tidegate.end('SIGTERM'))
  const deployed = (stageName: string): void => {
    if (stageName === 'Deploy canary') shop.deployCanary()
  }
  const orchestrator = await startOrchestrator({ tidegateUrl: tidegate.url, deployed, failed, ended })
  onClose(orchestrator.close)
  return {
    ...{ tidegateUrl: tidegate.url, prometheusUrl: prometheus.url, isRealPrometheus },
    ...{ orchestrator, token, dataDir: join(workspace.path, 'data') },
  }
}

function configuration(folder: string, prometheusUrl: string, token: string) {
  const sha256 = createHash('sha256').update(token).digest('hex')
  return {
    auth: {
      openToOrchestrator: true,
      tokens: [{ name: 'ana', roles: ['approver', 'auditor'], groups: ['leads'], sha256 }],
    },
    callbacks: { allowLoopback: true },
    gates: {
      definitions: [
        { id: 7, name: 'Approve release', application: 'shop', approvers: { groups: ['leads'] } },
      ],
      runtimePolicies: [
        { application: 'shop', stage: 'Trusted image', policy: 'runtime/trusted_registries' },
      ],
    },
    analysis: {
      sources: [{ name: 'prometheus', type: 'prometheus', url: prometheusUrl }],
      definitions: join(folder, 'definitions'),
    },
  }
}

const metric = (name: string, metricName: string, more: object): object => ({
  ...{ name, groups: [name] },
  query: { metricName, labelBindings: ['version="${version}"'] },
  analysisConfigurations: { canary: { direction: 'increase', ...more } },
})

/** Three looks in three quarters of a minute, of a value a second. */
const ANALYSIS = {
  ...{ lifetimeMinutes: 0.75, intervalMinutes: 0.25, delayMinutes: 0.03, stepSeconds: 1 },
  scopes: { baseline: { version: 'stable' }, canary: { version: 'canary' } },
  metrics: {
    source: 'prometheus',
    canaryConfig: {
      name: 'shop',
      metrics: [
        metric('failed requests', 'shop_failed_requests_per_second', { critical: true }),
        metric('time of a request', 'shop_request_seconds', { margin: 0.1 }),
      ],
      classifier: { groupWeights: { 'failed requests': 60, 'time of a request': 40 } },
    },
  },
}

const SCRAPE_MS = 1000
/** How long a series has the value of its last sample, as in Prometheus. */
const LOOKBACK_SECONDS = 300
const SAMPLE = /^(?<series>\w+\{[^}]*\}) (?<value>\S+)$/gm
const QUERY = /^avg\((?<series>\w+\{[^}]*\})\)$/

interface Sample {
  readonly atSeconds: number
  readonly value: number
}

/** A replacement if Prometheus is not installed: the parts of its API that the demo uses. */
interface SmallPrometheus {
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * Reads the figures of a program every second, and answers range queries of the form
 * `avg(name{labels})` about them.
 */
export async function startSmallPrometheus(target: string): Promise<SmallPrometheus> {
  const series = new Map<string, Sample[]>()
  const scrape = async (): Promise<void> => {
    const { text } = await ask(target, { path: '/metrics' })
    for (const { groups = {} } of text.matchAll(SAMPLE)) {
      const name = groups['series'] ?? ''
      const samples = series.get(name) ?? []
      series.set(name, [...samples, { atSeconds: Date.now() / 1000, value: Number(groups['value']) }])
    }
  }
  await scrape()
  const timer = setInterval(() => void scrape().catch(() => undefined), SCRAPE_MS)
  const server = await startLoopbackServer((request, response) => answer(request, response, series))
  return {
    url: server.origin,
    stop: async () => {
      clearInterval(timer)
      await server.close()
    },
  }
}

function answer(request: SeenRequest, response: ServerResponse, series: ReadonlyMap<string, Sample[]>): void {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  const parameters = request.method === 'POST' ? new URLSearchParams(request.body) : searchParams
  const name = QUERY.exec(parameters.get('query') ?? '')?.groups?.['series']
  if (pathname !== '/api/v1/query_range' || name === undefined) {
    const error = 'this small server answers /api/v1/query_range for avg(name{labels}) alone'
    respondJson(response, 400, { status: 'error', errorType: 'bad_data', error })
    return
  }
  const [start = 0, end = 0, step = 1] = ['start', 'end', 'step'].map((key) => Number(parameters.get(key)))
  const values = rangeOf(series.get(name) ?? [], { start, end, step })
  const result = values.length === 0 ? [] : [{ metric: {}, values }]
  respondJson(response, 200, { status: 'success', data: { resultType: 'matrix', result } })
}

/** The value at each step: that of the last sample before it. All in seconds. */
export function rangeOf(
  samples: readonly Sample[],
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
): [number, string][] {
  const values: [number, string][] = []
  for (let at = start; at <= end; at += step) {
    const sample = samples.findLast(({ atSeconds }) => atSeconds <= at)
    if (sample !== undefined && at - sample.atSeconds < LOOKBACK_SECONDS)
      values.push([at, String(sample.value)])
  }
  return values
}

const HEALTHY_MS = 16_000
const WORSE_WITHIN_MS = 10_000

/**
 * The application that is deployed: two versions of it serve figures of themselves, as Prometheus
 * reads them.
 */
export interface Shop extends LoopbackServer {
  /** From now on the canary serves, and after a while it gets worse and worse. */
  readonly deployCanary: () => void
}

/** Starts the shop; until its canary is deployed, that has no figures. */
export async function startShop(): Promise<Shop> {
  let deployedAtMs: number | undefined
  const server = await startLoopbackServer((_request, response) => {
    const lines = [...figures('stable', 0)]
    if (deployedAtMs !== undefined) lines.push(...figures('canary', trouble(Date.now() - deployedAtMs)))
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(`${lines.join('\n')}\n`)
  })
  return { ...server, deployCanary: () => (deployedAtMs ??= Date.now()) }
}

/** How bad it is, from 0 to 1. */
function trouble(ageMs: number): number {
  return Math.min(1, Math.max(0, (ageMs - HEALTHY_MS) / WORSE_WITHIN_MS))
}

function figures(version: string, badness: number): string[] {
  const noise = (): number => Math.random() - 0.5
  const failed = 2 + noise() + badness * (18 + 4 * noise())
  const seconds = 0.12 + 0.02 * noise() + badness * (0.25 + 0.05 * noise())
  return [
    `shop_failed_requests_per_second{version="${version}"} ${failed.toFixed(3)}`,
    `shop_request_seconds{version="${version}"} ${seconds.toFixed(4)}`,
  ]
}
