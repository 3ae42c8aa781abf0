import { setTimeout } from 'node:timers/promises'

import type { Config } from '../config/config.js'
import { hasAccounts, requiresCredentials } from '../config/sections/auth.js'
import type { ReadSecret } from '../config/values/secret.js'
import { toAppError } from '../errors/app-error.js'
import type { AppError } from '../errors/app-error.js'
import { makeAcknowledgeStatus } from '../gates/reviewing/acknowledge.js'
import { IgnoredReviews } from '../gates/reviewing/ignored-reviews.js'
import { compareGates, saveGateChanges } from '../gates/definitions/declare-gates.js'
import { recordReload } from '../gates/definitions/record-reload.js'
import { expireAllDue } from '../gates/instances/expire-instances.js'
import { remindOfInstances } from '../gates/instances/reminders.js'
import { fetchEvidence } from '../gates/work/evidence.js'
import type { Actor } from '../gates/instances/actor.js'
import { resumeWork } from '../gates/resume-work.js'
import { GateWork } from '../gates/work/gate-work.js'
import type { PipelineNumbers } from '../gates/definitions/pipeline-numbers.js'
import { removeAllEnded } from '../gates/instances/remove-ended.js'
import type { GateRoutesDeps } from '../http/routes/gates/gate-routes-deps.js'
import type { Logger } from '../lib/logger.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import { wait } from '../lib/outbound/back-off.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import { makeEvaluateGatePolicy } from './evaluations/internal-evaluations.js'
import type { GatePolicyParts } from './evaluations/internal-evaluations.js'
import type { Reloads } from './reload/reloads.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'
import { readCredentials } from '../config/values/credentials.js'
import type { Connector } from '../gates/connectors/tool/connectors.js'
import { makeOutboundClient } from '../lib/outbound/outbound-client.js'

const CLOCK_INTERVAL_MS = 1000
const REMOVAL_INTERVAL_MS = 600_000
const MS_PER_DAY = 86_400_000
const RESCAN_INTERVAL_MS = 60_000
/** Interval of checks for the work of ended processes, whose leases have expired. */
const TAKE_OVER_INTERVAL_MS = 3000
const CONCURRENCY = 16

interface GatesParts extends GatePolicyParts {
  readonly store: ServiceStore
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  /** Notifies the sender of callbacks that a message may be due. */
  readonly wakeOutbox: () => void
  readonly numbers: PipelineNumbers
  readonly reloads: Reloads
}

export interface OpenGates {
  /** Returns the dependencies of the routes with a configuration. */
  readonly routes: (config: Config) => GateRoutesDeps
  /** Repeats the work of an instance. Throws as `resumeWork`. */
  readonly resume: (instanceId: number, actor: Actor) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Imports the gates of the configuration, continues the work of instances and expires them. Throws
 * if a secret of a connector is missing, and `unavailable` if the store cannot be written.
 */
export async function openGates(config: Config, parts: GatesParts): Promise<OpenGates> {
  const { store, wakeOutbox, numbers, reloads } = parts
  const connectors = await followConnectors(config, parts)
  await takeOverGates(config, store)
  reloads.steps.record = (next, changed, actor) => recordChanges(next.config, store, changed, actor)
  const work = startWork(connectors.current, parts)
  await work.rescan()
  const stopClock = startClock(config, parts, work)
  const acknowledge = makeAcknowledgeStatus({ writer: store.writer, failed: notAcknowledged(parts) })
  const ignoredReviews = new IgnoredReviews()
  return {
    routes: ({ auth, callbacks, gates, server }) => ({
      writer: store.writer,
      reader: store.reader,
      lookups: store.lookups,
      now: store.now,
      callbackTargets: callbacks,
      publicUrl: server.publicUrl,
      orchestratorUrl: server.orchestratorUrl ?? server.publicUrl,
      maxBodyBytes: server.maxBodyBytes,
      approvalAcr: auth.oidc?.approvalAcr,
      approvers: listedApprovers(auth),
      triggered: ({ id, work: due }) => {
        if (due !== undefined) work.add(id)
      },
      closed: wakeOutbox,
      acknowledge,
      ignoredReviews,
      stagePolicies: gates.runtimePolicies,
      numbers,
      makesGates: gates.fromStages,
    }),
    resume: async (instanceId, actor) => {
      await store.writer.run(resumeWork, { instanceId, actor })
      work.add(instanceId)
    },
    close: async () => {
      await stopClock()
      await work.stop()
      await connectors.current().close()
    },
  }
}

/** Returns everybody who may approve; undefined if the configuration does not list all people. */
function listedApprovers(auth: Config['auth']): GateRoutesDeps['approvers'] {
  if (!requiresCredentials(auth) || hasAccounts(auth)) return undefined
  return [...auth.tokens, ...auth.certificates]
    .filter(({ roles }) => roles.includes('approver') || roles.includes('admin'))
    .map(({ name, groups }) => ({ name, groups }))
}

/** Stores the gates of another configuration with the record of its reload. */
async function recordChanges(
  { gates }: Config,
  { lookups, writer, now }: ServiceStore,
  changed: readonly string[],
  actor: Actor,
): Promise<void> {
  const gateChanges = compareGates(await lookups.gates.listGates(), gates.definitions, now())
  await writer.run(recordReload, { changed, gates: gateChanges, actor })
}

/** Writes nothing if nothing has changed, so that the writing thread need not start. */
async function takeOverGates({ gates }: Config, { lookups, writer, now }: ServiceStore): Promise<void> {
  const changes = compareGates(await lookups.gates.listGates(), gates.definitions, now())
  if (changes.length > 0) await writer.run(saveGateChanges, changes)
}

function startWork(open: () => OpenConnectors, parts: GatesParts): GateWork {
  const { store, logger, wakeOutbox, attempts } = parts
  return new GateWork({
    writer: store.writer,
    gates: store.lookups.gates,
    leases: store.leases,
    fetchEvidence: (requests, signal) => {
      const { connectors, budgetMs } = open()
      return fetchEvidence(requests, connectors, {
        ...{ budgetMs, now: store.now, wait, random: Math.random, signal },
      })
    },
    evaluatePolicy: makeEvaluateGatePolicy(parts),
    attempts,
    now: store.now,
    concurrency: CONCURRENCY,
    closed: wakeOutbox,
    failed: (error, instance) => {
      logger.error({ instance, error: error.message }, 'the work for a gate instance will be tried again')
    },
  })
}

function notAcknowledged({ logger }: GatesParts): (error: AppError, instance: number) => void {
  return (error, instance) => {
    logger.warn({ instance, error: error.message }, 'the status query of a gate instance was not recorded')
  }
}

/** Periodically expires instances, retries failed work and removes old instances. */
function startClock({ gates }: Config, parts: GatesParts, work: GateWork): () => Promise<void> {
  const { store, logger, wakeOutbox } = parts
  const failed = (error: Error): void =>
    logger.error({ error: toAppError(error).message }, 'periodic work of gates failed')
  const expiring = repeat(CLOCK_INTERVAL_MS, (signal) => expireDue(store, wakeOutbox, signal), failed)
  const reminding = repeat(CLOCK_INTERVAL_MS, (signal) => remindDue(store, signal), failed)
  const rescanning = repeat(
    store.sharing === undefined ? RESCAN_INTERVAL_MS : TAKE_OVER_INTERVAL_MS,
    () => work.rescan(),
    failed,
  )
  store.sharing?.whenReleased(() => void rescanning.runNow())
  const keepMs = gates.maxAgeDays * MS_PER_DAY
  const remove = parts.leadership.led((signal) => removeOld(parts, keepMs, signal))
  const removing = repeat(REMOVAL_INTERVAL_MS, remove, failed)
  return async () => {
    await Promise.all([expiring.stop(), reminding.stop(), rescanning.stop(), removing.stop()])
  }
}

/** Reads before it writes, so that the writing thread starts only if needed. */
async function removeOld({ store, logger }: GatesParts, keepMs: number, signal: AbortSignal): Promise<void> {
  const beforeMs = store.removalTime() - keepMs
  const oldestMs = await store.lookups.gates.oldestEndMs()
  if (oldestMs === undefined || oldestMs >= beforeMs) return
  const instances = await removeAllEnded(store.writer, { beforeMs, nowMs: store.now(), signal })
  if (instances > 0) logger.info({ instances }, 'removed old gate instances')
}

/** Reads before it writes, as `removeOld`. */
async function expireDue(
  { lookups, writer, now }: ServiceStore,
  wakeOutbox: () => void,
  signal: AbortSignal,
): Promise<void> {
  const nextMs = await lookups.gates.nextExpiryMs()
  if (nextMs === undefined || nextMs > now()) return
  const pause = (ms: number): Promise<unknown> => setTimeout(ms, undefined, { signal }).catch(() => undefined)
  const expired = await expireAllDue({ writer, now, pause, signal })
  if (expired > 0) wakeOutbox()
}

/** Instances with a reminder in one transaction. */
const REMINDERS_PER_STEP = 50

/** Reads before it writes, as `removeOld`. */
async function remindDue({ lookups, writer, now }: ServiceStore, signal: AbortSignal): Promise<void> {
  const nextMs = await lookups.gates.nextNoticeMs()
  if (nextMs === undefined || nextMs > now()) return
  const step = { nowMs: now(), limit: REMINDERS_PER_STEP }
  while (!signal.aborted && (await writer.run(remindOfInstances, step)) === REMINDERS_PER_STEP);
}

const MS_PER_SECOND = 1000

interface OpenConnectors {
  readonly connectors: readonly Connector[]
  /** Time limit for all evidence of one gate, in milliseconds. */
  readonly budgetMs: number
  readonly close: () => Promise<void>
}

/**
 * Opens the connectors, and other ones when the configuration changes. Evidence that is being
 * fetched comes from the former ones, whose idle connections close by themselves.
 */
async function followConnectors(
  config: Config,
  { readSecret, reloads }: GatesParts,
): Promise<{ readonly current: () => OpenConnectors }> {
  let current = await openConnectors(config, readSecret)
  reloads.add(async (next) => {
    const opened = await openConnectors(next.config, next.readSecret)
    return { commit: () => (current = opened), discard: opened.close }
  })
  return { current: () => current }
}

/** Makes a connector for each configured account. Throws as `readSecret`. */
async function openConnectors({ connectors }: Config, readSecret: ReadSecret): Promise<OpenConnectors> {
  const budgetMs = connectors.budgetSeconds * MS_PER_SECOND
  if (connectors.accounts.length === 0) return { connectors: [], budgetMs, close: () => Promise.resolve() }
  const { makeToolConnector } = await import('../gates/connectors/make-tool-connector.js')
  const client = makeOutboundClient(connectors)
  return {
    connectors: connectors.accounts.map((account) =>
      makeToolConnector(account.type, {
        name: account.name,
        connectorType: account.connectorType,
        url: account.url,
        credentials: readCredentials(account.credentials, readSecret),
        client,
        timeoutMs: account.timeoutSeconds * MS_PER_SECOND,
        attempts: account.attempts,
        maxResponseBytes: account.maxResponseBytes,
      }),
    ),
    budgetMs,
    close: client.close,
  }
}
