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
import type { OpenEnforcement } from './open-enforcement.js'
import type { OpenEvaluations } from './evaluations/open-evaluations.js'
import type { Reloads } from './reload/reloads.js'
import { PolicySender } from './worker-pool/policy-sender.js'
import { sumMetrics } from './worker-pool/sum-metrics.js'
import { WorkerPool } from './worker-pool/worker-pool.js'
import type { MainCalls } from './worker-pool/worker-calls.js'
import { makeTemporaryDirectory } from '../lib/temporary-directory.js'
import { SHORT_FOLDER, shortFolderOf, temporaryFolderOf } from './files/temporary-folder.js'

const SCRIPT = fileURLToPath(threadScript('worker'))

/**
 * Settings of glibc's malloc, unless the environment sets others. By default its mmap threshold
 * grows to the largest freed block, which retains hundreds of megabytes after some large bodies.
 * With these settings blocks of 128 KiB and more are mapped and returned to the system when freed.
 * Small decisions allocate no blocks of this size. The number of arenas is limited to two, because
 * each arena retains the peak memory of its threads.
 */
const MEMORY_ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '16777216',
  MALLOC_ARENA_MAX: '2',
}

/**
 * Default limit of processes. Each needs about 30 MB and its own copy of the base documents.
 * `server.workers` may be set higher.
 */
const MAX_DEFAULT_PROCESSES = 8

/**
 * Folder in the data directory for files shared between the processes. The next start removes files
 * that a killed process left.
 */
const DATA_FOLDER = 'workers'

/**
 * Makes libuv accept one connection at a time, so that the system distributes connections evenly
 * among the processes.
 */
export function shareConnectionsEvenly(config: Config): void {
  if (processesOf(config) > 1) process.env['UV_TCP_SINGLE_ACCEPT'] ??= '1'
}

/** Number of processes that decide, including the main one. */
export function processesOf({ server }: Config): number {
  return server.workers ?? Math.min(availableCores(), MAX_DEFAULT_PROCESSES)
}

export interface WorkersDeps {
  readonly config: Config
  readonly reloads: Pick<Reloads, 'config'>
  readonly logger: Logger
  readonly policies: Policies
  readonly evaluations: OpenEvaluations
  readonly enforcing: Pick<OpenEnforcement, 'exceptions' | 'shareWith'>
  readonly decisions: Decisions
  readonly metrics: ServiceMetrics
  readonly threadDied: (death: ThreadDeath) => void
}

/** An address and the main process's listener for it. */
export interface SharedListener {
  readonly served: ServedAddress
  readonly listener: Server
}

/** The handler of relayed requests and its concurrency limits. */
interface RelayedAnswering {
  readonly handle: HandleRequest
  readonly limits: Pick<ServerLimits, 'requests' | 'pages'>
}

/** The worker processes that decide in addition to this one, if any. */
export interface OpenWorkers {
  /** Metrics of all processes, summed. */
  readonly metrics: MetricTexts
  /** Hands the decisions of all worker processes to the decision log. */
  readonly flush: () => Promise<void>
  readonly health: HealthPlugin
  /**
   * Starts the worker processes at the TCP listeners that serve everything. They relay requests
   * that they do not answer themselves.
   */
  readonly serve: (
    shared: readonly SharedListener[],
    relayed: RelayedAnswering,
    tls: () => TlsSettings | undefined,
  ) => Promise<void>
  /** Switches all worker processes to another configuration. Never rejects. */
  readonly follow: (config: Config) => Promise<void>
  /** Switches new connections of all worker processes to another certificate. */
  readonly renewTls: (settings: TlsSettings) => void
  readonly stop: (drainMs: number) => Promise<void>
}

/** The metrics of this process, or the sum over it and the worker processes. */
function metricTexts(
  { registry, exemplars }: ServiceMetrics,
  pool: () => Pick<WorkerPool, 'metrics'> | undefined,
): MetricTexts {
  const all = async (): Promise<Pick<ServiceMetrics['registry'], 'metrics' | 'getMetricsAsJSON'>> => {
    const others = await pool()?.metrics()
    return others === undefined ? registry : sumMetrics(await registry.getMetricsAsJSON(), others)
  }
  return {
    values: async () => await (await all()).getMetricsAsJSON(),
    plain: sharedRun(async () => await (await all()).metrics()),
    openMetrics: sharedRun(async () => openMetricsText(await (await all()).getMetricsAsJSON(), exemplars)),
  }
}

/** Prepares the worker processes. `serve` starts them. */
export function openWorkers(deps: WorkersDeps): OpenWorkers {
  const { config, metrics, logger } = deps
  const processes = processesOf(config)
  let pool: WorkerPool | undefined
  let close = (): Promise<void> => Promise.resolve()
  let isReachable = (): boolean => true
  return {
    metrics: metricTexts(metrics, () => pool),
    flush: () => pool?.flush() ?? Promise.resolve(),
    health: {
      name: 'workers',
      isUp: () => true,
      warning: () => {
        if (!isReachable())
          return 'worker processes cannot reach the main process: they answer policy decisions only'
        const missing = pool?.missing ?? 0
        return missing === 0 ? undefined : `${missing} of ${processes} processes do not accept requests`
      },
    },
    follow: async (next) => pool?.send('follow', next),
    renewTls: (settings) => {
      pool?.renewTls(settings).catch((raw: unknown) => {
        logger.error({ error: toError(raw).message }, 'worker processes keep the previous certificate')
      })
    },
    serve: async (listening, { handle, limits }, tls) => {
      // Sockets in the file system are not shared with other processes, and probes are few.
      const shared = listening.filter(
        ({ served: { address, serves } }) => serves === 'all' && !('path' in address),
      )
      if (processes === 1 || shared.length === 0) return
      const data = join(config.dataDir, DATA_FOLDER)
      await makeEmptyFolder(data)
      const { path: relaySocket, ownFolder } = await relayPathIn(data, config.dataDir)
      close = () => removeFolders([data, ownFolder])
      const relayed = await serveRelayed(handle, relaySocket, config.audit.maxBodyBytes, limits)
      isReachable = relayed.isReachable
      // Set before anything else can fail, so that the relay is closed in any case.
      close = async () => {
        await relayed.stop(0)
        await removeFolders([data, ownFolder])
      }
      const sender = new PolicySender(data)
      const first = deps.policies.current
      await sender.prepare(first)
      const started = startPool(deps, { shared, sender, relaySocket, tls, processes })
      pool = started
      deps.enforcing.shareWith((all) => started.send('except', all))
      deps.policies.beforeActivation(
        (snapshot) => started.load(snapshot),
        (staged) => started.stage(staged),
      )
      if (deps.policies.current !== first) await started.load(deps.policies.current)
      if (deps.policies.staged !== undefined) await started.stage(deps.policies.staged)
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

interface PoolOptions {
  readonly shared: readonly SharedListener[]
  readonly sender: PolicySender
  readonly relaySocket: string
  readonly tls: () => TlsSettings | undefined
  readonly processes: number
}

function startPool(
  deps: WorkersDeps,
  { shared, sender, relaySocket, tls, processes }: PoolOptions,
): WorkerPool {
  const { reloads, logger, threadDied, enforcing } = deps
  return new WorkerPool({
    count: processes - 1,
    fork: () =>
      fork(SCRIPT, [], {
        serialization: 'advanced',
        // Without the main process's options: two processes cannot share a debugger port.
        execArgv: [],
        env: { ...MEMORY_ENVIRONMENT, ...process.env },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    settings: () => ({
      ...{ config: reloads.config, relaySocket, processes, tls: tls() },
      addresses: shared.map(({ served }) => served),
    }),
    policies: sender,
    exceptions: enforcing.exceptions,
    callsFor: () => callsOfWorker(deps, sender),
    listeners: shared.map(({ listener }) => listener),
    logger,
    died: threadDied,
  })
}

/** The calls that one worker process may make to this process. */
function callsOfWorker(
  { evaluations, decisions }: WorkersDeps,
  sender: PolicySender,
): { calls: MainCalls; ended: () => void } {
  const tickets = new Map<number, SlowTicket>()
  const find = (id: number): Snapshot => {
    const snapshot = sender.find(id)
    if (snapshot !== undefined) return snapshot
    throw new AppError(
      'unavailable',
      'the policies were replaced during the evaluation: send the request again',
    )
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
      locateFailure: ({ policies, failure }) => toFailure(unpackFailure(failure, find(policies))),
    },
    ended: () => {
      for (const { drop } of tickets.values()) drop()
    },
  }
}

/**
 * Maximum length of a socket path in bytes (sockaddr_un on macOS; Linux allows four more). The
 * system silently truncates longer ones.
 */
const MAX_PATH_BYTES = 103
const NAME = 'relay'

/**
 * The path where the main process listens for worker processes, and the folder made for it, if any.
 */
interface RelayPath {
  readonly path: string
  readonly ownFolder: string | undefined
}

/**
 * Returns a socket path in a private folder of the data directory. If that is too long, it is in a
 * new temporary folder of the service. Throws if the folder cannot be made.
 */
export async function relayPathIn(folder: string, dataDir: string): Promise<RelayPath> {
  const path = join(folder, NAME)
  if (isShort(path)) return { path, ownFolder: undefined }
  const temporary = temporaryFolderOf(dataDir)
  const ownFolder =
    temporary !== undefined && isShort(join(temporary, 'tidegate-XXXXXX', NAME))
      ? await makeTemporaryDirectory(temporary)
      : await makeTemporaryDirectory(shortFolderOf(dataDir), SHORT_FOLDER)
  return { path: join(ownFolder, NAME), ownFolder }
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_PATH_BYTES
}
