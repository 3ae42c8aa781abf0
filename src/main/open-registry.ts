import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { reconcileRegistry } from '../events/registry/reconcile-registry.js'
import type { ReconcileOutcome } from '../events/registry/reconcile-registry.js'
import { applyEvents, skipEvent } from '../events/registry/registry-operations.js'
import { PipelineNumbers } from '../gates/definitions/pipeline-numbers.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'
import type { Logger } from '../lib/logger.js'
import { isSuspended } from '../lib/work-attempts.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import type { OrchestratorConnection } from '../orchestrator/connection.js'
import { readOrchestratorSettings } from '../orchestrator/settings.js'
import type { OrchestratorSettings } from '../orchestrator/settings.js'
import { webhookCredentials } from '../orchestrator/webhook-request.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import { temporaryFolderOf } from './files/temporary-folder.js'
import { storeLocation } from './store/store-location.js'
import type { compareInThread } from './threads/comparison-thread.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'
import type { Repeated } from './timers/repeat.js'

const APPLY_INTERVAL_MS = 200
const EVENTS_PER_STEP = 20
const MS_PER_SECOND = 1000
/** Kind under which suspended reconciliations are listed. */
export const RECONCILIATION = 'reconciliation'
const REGISTRY_EVENTS = 'registry-events'

interface RegistryParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  readonly readSecret: ReadSecret
  readonly compare: typeof compareInThread
}

/** Results of the reconciliations since the start. */
interface ReconcileStatus {
  /** Undefined if none has ended, or none is configured. */
  readonly last: { readonly isDone: boolean; readonly atMs: number; readonly durationMs: number } | undefined
  readonly done: number
  readonly failed: number
}

export interface OpenRegistry {
  readonly settings: OrchestratorSettings
  readonly status: () => ReconcileStatus
  readonly numbers: PipelineNumbers
  /** Headers for a relayed webhook: its secret token and credentials for the gateway. */
  readonly relayHeaders: (message: { readonly url: string }) => Readonly<Record<string, string>>
  readonly health: HealthPlugin
  /** Starts a reconciliation now, if the storage service is configured. */
  readonly reconcile: () => void
  readonly close: () => Promise<void>
}

/** Updates the registry by events and, if the storage service is configured, by reconciliation. */
export function openRegistry(config: Config, parts: RegistryParts): OpenRegistry {
  const { store, logger, readSecret } = parts
  const settings = readOrchestratorSettings(config.orchestrator, readSecret)
  const applying = repeat(
    APPLY_INTERVAL_MS,
    () => applyWaiting(parts),
    (error) => logger.error({ error: error.message }, 'events not applied to the registry'),
  )
  const reconciling = startReconciling(config, settings, parts)
  return {
    settings,
    status: reconciling.status,
    relayHeaders: ({ url }) => webhookCredentials(settings, url),
    reconcile: reconciling.runNow,
    health: {
      name: 'registry',
      isUp: () => reconciling.status().last?.isDone !== false,
      problem: () => parts.attempts.suspended().find(({ kind }) => kind === RECONCILIATION)?.reason,
    },
    numbers: new PipelineNumbers(store.lookups.registry),
    close: async () => {
      await Promise.all([applying.stop(), reconciling.stop()])
    },
  }
}

async function applyWaiting({ store, logger, attempts }: RegistryParts): Promise<void> {
  const { lookups, writer } = store
  const work = { kind: REGISTRY_EVENTS, key: 'oldest' }
  while (await lookups.registry.hasWaitingEvents()) {
    // After a crash events are applied one at a time, so that the cause of another crash is known.
    const limit = attempts.unfinished(work) > 0 ? 1 : EVENTS_PER_STEP
    const applied = await attempts
      .run(work, () => writer.run(applyEvents, { limit, nowMs: store.now() }))
      .catch(async (error: unknown) => {
        if (!isSuspended(error)) throw error
        const seq = await writer.run(skipEvent, { reason: error.message, nowMs: store.now() })
        attempts.forget(work)
        logger.error({ seq, reason: error.message }, 'an event was skipped and is missing from the registry')
      })
    if (applied === undefined) continue
    const { events, changed, unread } = applied
    if (changed > 0) logger.debug({ events, changed }, 'registry changed by events')
    if (unread.length > 0) logger.warn({ unread }, 'events contain changes that cannot be read')
  }
}

interface Reconciling {
  readonly status: () => ReconcileStatus
  readonly runNow: () => void
  readonly stop: () => Promise<void>
}

function startReconciling(config: Config, settings: OrchestratorSettings, parts: RegistryParts): Reconciling {
  const { store, logger, attempts } = parts
  let status: ReconcileStatus = { last: undefined, done: 0, failed: 0 }
  const { orchestrator } = config
  if (orchestrator.storageUrl === undefined) {
    return { status: () => status, runNow: () => undefined, stop: () => Promise.resolve() }
  }
  const connection = connect(settings, config.dataDir)
  const compare = parts.compare(storeLocation(config, parts.readSecret))
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const startedMs = Date.now()
    const ended = (isDone: boolean): ReconcileStatus => ({
      last: { isDone, atMs: Date.now(), durationMs: Date.now() - startedMs },
      done: status.done + (isDone ? 1 : 0),
      failed: status.failed + (isDone ? 0 : 1),
    })
    try {
      const deps = { connection, compare, writer: store.writer, now: store.now }
      const work = { kind: RECONCILIATION, key: 'registry' }
      const outcome = await attempts.run(work, () => reconcileRegistry(deps, signal))
      logOutcome(logger, outcome, startedMs)
      status = ended(true)
    } catch (error) {
      if (signal.aborted) return
      status = ended(false)
      throw error
    }
  }
  const repeated: Repeated = repeat(
    orchestrator.reconcileIntervalSeconds * MS_PER_SECOND,
    parts.leadership.led(reconcile),
    (error) => logger.error({ error: error.message }, 'registry not reconciled; it stays unchanged'),
  )
  void repeated.runNow()
  return {
    status: () => status,
    runNow: () => void repeated.runNow(),
    stop: async () => {
      await repeated.stop()
      await connection.client.close()
    },
  }
}

function connect(settings: OrchestratorSettings, dataDir: string): OrchestratorConnection {
  return {
    settings,
    temporaryFolder: temporaryFolderOf(dataDir),
    // The operator configured this address, so any may be used except that of a metadata service.
    client: makeOutboundClient({ allowLoopback: true, allowPrivate: true }),
    now: Date.now,
    wait: (ms, signal) => wait(ms, undefined, { signal }),
    random: Math.random,
  }
}

function logOutcome(logger: Logger, outcome: ReconcileOutcome, startedMs: number): void {
  logger.info({ ...outcome, durationMs: Date.now() - startedMs }, 'registry reconciled')
}
