import { fork } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Config } from '../config/config.js'
import type { ServedAddress } from '../config/sections/served-addresses.js'
import { AppError, toError } from '../errors/app-error.js'
import { openMetricsText } from '../http/metrics/open-metrics.js'
import type { MetricTexts } from '../http/metrics/open-metrics.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import { serveRelayed } from '../http/relay/serve-relayed.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import type { ServerLimits } from '../http/server.js'
import type { HandleRequest } from '../http/transport/handle-request.js'
import type { TlsSettings } from '../http/transport/tls/tls-settings.js'
import type { Logger } from '../lib/logger.js'
import { threadScript } from '../lib/package-root.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import { availableCores } from '../lib/processes/system-limits.js'
import { toFailure } from '../lib/threads/failure.js'
import { sharedRun } from '../lib/turns/shared-run.js'
import { unpackFailure, type Policies, type SlowTicket, type Snapshot } from '../rego/index.js'
import type { Decisions } from './open-decisions.js'
import type { OpenEvaluations } from './evaluations/open-evaluations.js'
import { relayPathIn } from './workers/relay-path.js'
import { PolicySender } from './workers/sent-policies.js'
import { sumFigures } from './workers/sum-figures.js'
import { WorkerPool } from './workers/worker-pool.js'
import type { MainCalls } from './workers/worker-calls.js'

const SCRIPT = fileURLToPath(threadScript('worker'))

/**
 * What glibc's malloc is told, where it is not told otherwise: by itself it takes blocks as large as the largest that was given back from its heap, which keeps
 * hundreds of megabytes after some large bodies. Blocks of 128 KiB and more come from the system and go back to it at once; small decisions allocate none. (With
 * blocks of a megabyte, smaller ones left holes in the heap that grew for ten minutes; decisions of 215 KB cost the same with either.)
 * A heap for each thread keeps what that thread once needed: two do.
 */
const MEMORY_ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '16777216',
  MALLOC_ARENA_MAX: '2',
}

/** Each takes some 30 MB and its copies of the base documents: who has more cores than this says how many are for decisions. */
const MOST_UNASKED = 8

/** In the data directory, for what goes between the processes: what a killed one left there, or among the temporary files, goes with the next start. */
const DATA_FOLDER = 'workers'

/** Has the system share new connections evenly among the processes that listen: each takes one at a time, and lets others have the next. */
export function shareConnectionsEvenly(config: Config): void {
  if (processesOf(config) > 1) process.env['UV_TCP_SINGLE_ACCEPT'] ??= '1'
}

/** How many processes decide, the main one included. */
export function processesOf({ server }: Config): number {
  return server.workers ?? Math.min(availableCores(), MOST_UNASKED)
}

export interface WorkersDeps {
  readonly config: Config
  readonly logger: Logger
  readonly policies: Policies
  readonly evaluations: OpenEvaluations
  readonly decisions: Decisions
  readonly metrics: ServiceMetrics
  readonly threadDied: (death: ThreadDeath) => void
}

/** An address, and what the main process listens on for it. */
export interface SharedListener {
  readonly served: ServedAddress
  readonly listener: Server
}

/** What answers requests that are relayed, and the room for them. */
export interface RelayedAnswering {
  readonly handle: HandleRequest
  readonly room: Pick<ServerLimits, 'requests' | 'pages'>
}

/** The processes that decide beside this one, if any. */
export interface OpenWorkers {
  /** The figures of all processes as one. */
  readonly figures: MetricTexts
  /** Has what all processes decided so far handed to the decision log. */
  readonly flush: () => Promise<void>
  readonly health: HealthPlugin
  /** Starts them at what the main process listens on, ports for everything alone; what they do not answer themselves is relayed. */
  readonly serve: (
    shared: readonly SharedListener[],
    relayed: RelayedAnswering,
    tls: () => TlsSettings | undefined,
  ) => Promise<void>
  /** Has new connections of all use another certificate. */
  readonly renewTls: (settings: TlsSettings) => void
  readonly stop: (drainMs: number) => Promise<void>
}

/** The figures of this process, or the sums over it and those that decide. */
function figureTexts(
  { registry, exemplars }: ServiceMetrics,
  pool: () => Pick<WorkerPool, 'figures'> | undefined,
): MetricTexts {
  const all = async (): Promise<Pick<ServiceMetrics['registry'], 'metrics' | 'getMetricsAsJSON'>> => {
    const others = await pool()?.figures()
    return others === undefined ? registry : sumFigures(await registry.getMetricsAsJSON(), others)
  }
  return {
    plain: sharedRun(async () => await (await all()).metrics()),
    openMetrics: sharedRun(async () => openMetricsText(await (await all()).getMetricsAsJSON(), exemplars)),
  }
}

/** Makes what starts workers and stops them. */
export function openWorkers(deps: WorkersDeps): OpenWorkers {
  const { config, metrics, logger } = deps
  const processes = processesOf(config)
  let pool: WorkerPool | undefined
  let close = (): Promise<void> => Promise.resolve()
  let isReachable = (): boolean => true
  return {
    figures: figureTexts(metrics, () => pool),
    flush: () => pool?.flush() ?? Promise.resolve(),
    health: {
      name: 'workers',
      isUp: () => true,
      warning: () => {
        if (!isReachable())
          return 'processes that decide cannot reach the main one: nothing else is answered by them'
        const missing = pool?.missing ?? 0
        return missing === 0
          ? undefined
          : `${missing} of ${processes} processes that decide do not take requests`
      },
    },
    renewTls: (settings) => {
      pool?.renewTls(settings).catch((raw: unknown) => {
        logger.error({ error: toError(raw).message }, 'worker processes keep the former certificate')
      })
    },
    serve: async (listening, { handle, room }, tls) => {
      // A socket is not taken over by another process, and probes are few.
      const shared = listening.filter(
        ({ served: { address, serves } }) => serves === 'all' && !('path' in address),
      )
      if (processes === 1 || shared.length === 0) return
      const data = join(config.dataDir, DATA_FOLDER)
      await makeEmptyFolder(data)
      const { path: relaySocket, ownFolder } = await relayPathIn(data, config.dataDir)
      close = () => removeFolders([data, ownFolder])
      const relayed = await serveRelayed(handle, relaySocket, config.audit.maxBodyBytes, room)
      isReachable = relayed.isReachable
      // Before anything else can fail: what listens is closed then, too.
      close = async () => {
        await relayed.stop(0)
        await removeFolders([data, ownFolder])
      }
      const sender = new PolicySender(data)
      const first = deps.policies.current
      await sender.prepare(first)
      const started = startPool(deps, { shared, sender, relaySocket, tls, processes })
      pool = started
      deps.policies.beforeActivation((snapshot) => started.load(snapshot))
      if (deps.policies.current !== first) await started.load(deps.policies.current)
    },
    stop: async (drainMs) => {
      await pool?.stop(drainMs)
      await close()
    },
  }
}

async function removeFolders(folders: readonly (string | undefined)[]): Promise<void> {
  for (const folder of folders) if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}

async function makeEmptyFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await mkdir(path, { recursive: true, mode: 0o700 })
}

interface PoolSurroundings {
  readonly shared: readonly SharedListener[]
  readonly sender: PolicySender
  readonly relaySocket: string
  readonly tls: () => TlsSettings | undefined
  readonly processes: number
}

function startPool(
  deps: WorkersDeps,
  { shared, sender, relaySocket, tls, processes }: PoolSurroundings,
): WorkerPool {
  const { config, logger, threadDied } = deps
  return new WorkerPool({
    count: processes - 1,
    fork: () =>
      fork(SCRIPT, [], {
        serialization: 'advanced',
        // None of the main process's own: two cannot be debugged at one address.
        execArgv: [],
        env: { ...MEMORY_ENVIRONMENT, ...process.env },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    settings: () => ({
      ...{ config, relaySocket, processes, tls: tls() },
      addresses: shared.map(({ served }) => served),
    }),
    policies: sender,
    callsFor: () => callsOfWorker(deps, sender),
    listeners: shared.map(({ listener }) => listener),
    logger,
    died: threadDied,
  })
}

/** What one worker may ask of this process. */
function callsOfWorker(
  { evaluations, decisions }: WorkersDeps,
  sender: PolicySender,
): { calls: MainCalls; ended: () => void } {
  const tickets = new Map<number, SlowTicket>()
  const find = (id: number): Snapshot => {
    const snapshot = sender.find(id)
    if (snapshot !== undefined) return snapshot
    throw new AppError('unavailable', 'the policies were replaced: ask again')
  }
  return {
    calls: {
      ...decisions.forWorkers,
      evaluate: async ({ id, policies, key, request }) => {
        const ticket = evaluations.slow.submit({ key, snapshot: find(policies), request })
        tickets.set(id, ticket)
        return await ticket.answer.finally(() => tickets.delete(id))
      },
      drop: (id) => tickets.get(id)?.drop(),
      locate: ({ policies, failure }) => toFailure(unpackFailure(failure, find(policies))),
    },
    ended: () => {
      for (const { drop } of tickets.values()) drop()
    },
  }
}
