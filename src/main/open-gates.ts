import { setTimeout } from 'node:timers/promises'

import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import type { DecisionLog } from '../decisions/decision-log.js'
import { toAppError } from '../errors/app-error.js'
import type { AppError } from '../errors/app-error.js'
import { makeAcknowledgeStatus } from '../gates/reviewing/acknowledge.js'
import { IgnoredReviews } from '../gates/reviewing/ignored-reviews.js'
import { compareGates, saveGateChanges } from '../gates/definitions/declare-gates.js'
import { expireAllDue } from '../gates/instances/expire-instances.js'
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
import type { Evaluations, Policies } from '../rego/index.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import { makeAskGatePolicy } from './gates/ask-gate-policy.js'
import { openConnectors } from './gates/open-connectors.js'
import type { OpenConnectors } from './gates/open-connectors.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'

const CLOCK_INTERVAL_MS = 1000
const REMOVAL_INTERVAL_MS = 600_000
const MS_PER_DAY = 86_400_000
const RESCAN_INTERVAL_MS = 60_000
/** The work of a process that is gone is found so soon, after its lease has ended. */
const TAKE_OVER_INTERVAL_MS = 3000
const CONCURRENCY = 16

/** What the gates need beside the configuration. */
export interface GatesParts {
  readonly store: ServiceStore
  readonly policies: Policies
  readonly evaluations: Evaluations
  readonly decisionLog: DecisionLog
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly attempts: WorkAttempts
  readonly leadership: Leadership
  /** Tells the sender of callbacks that something may be due. */
  readonly wakeOutbox: () => void
  /** The numbers of applications and pipelines. */
  readonly numbers: PipelineNumbers
}

/** The gates at work. */
export interface OpenGates {
  readonly routes: GateRoutesDeps
  /** Has the work of an instance done once more. Raises as `resumeWork` does. */
  readonly resume: (instanceId: number, actor: Actor) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Takes the gates of the configuration over, goes on with what instances still need, and lets them expire. Raises as
 * the secrets of connectors do, and `unavailable` when the store cannot be written.
 */
export async function openGates(config: Config, parts: GatesParts): Promise<OpenGates> {
  const { store, wakeOutbox, numbers } = parts
  const connectors = await openConnectors(config, parts.readSecret)
  await takeOverGates(config, store)
  const work = startWork(connectors, parts)
  await work.rescan()
  const stopClock = startClock(config, parts, work)
  const people = [...config.auth.tokens, ...config.auth.certificates]
  const groups = new Map(people.map(({ name, groups: of }) => [name, of]))
  const approvers = people.filter(({ roles }) => roles.includes('approver') || roles.includes('admin'))
  return {
    routes: {
      writer: store.writer,
      reader: store.reader,
      lookups: store.lookups,
      now: store.now,
      callbackTargets: config.callbacks,
      publicUrl: config.server.publicUrl,
      orchestratorUrl: config.server.orchestratorUrl ?? config.server.publicUrl,
      maxBodyBytes: config.server.maxBodyBytes,
      groupsOf: (tokenName) => groups.get(tokenName) ?? [],
      approvers:
        people.length === 0 ? undefined : approvers.map(({ name, groups: of }) => ({ name, groups: of })),
      triggered: ({ id, work: due }) => {
        if (due !== undefined) work.add(id)
      },
      closed: wakeOutbox,
      acknowledge: makeAcknowledgeStatus({ writer: store.writer, failed: notAcknowledged(parts) }),
      ignoredReviews: new IgnoredReviews(),
      stagePolicies: config.gates.runtimePolicies,
      numbers,
      makesGates: config.gates.fromStages,
    },
    resume: async (instanceId, actor) => {
      await store.writer.run(resumeWork, { instanceId, actor })
      work.add(instanceId)
    },
    close: async () => {
      await stopClock()
      await work.stop()
      await connectors.close()
    },
  }
}

/** Without a difference nothing is written, so that the thread that writes need not start. */
async function takeOverGates({ gates }: Config, { lookups, writer, now }: ServiceStore): Promise<void> {
  const changes = compareGates(await lookups.gates.listGates(), gates.definitions, now())
  if (changes.length > 0) await writer.run(saveGateChanges, changes)
}

function startWork(
  { connectors, budgetMs }: OpenConnectors,
  { store, policies, evaluations, decisionLog, logger, wakeOutbox, attempts }: GatesParts,
): GateWork {
  return new GateWork({
    writer: store.writer,
    gates: store.lookups.gates,
    leases: store.leases,
    fetchEvidence: (requests, signal) =>
      fetchEvidence(requests, connectors, { budgetMs, now: store.now, wait, random: Math.random, signal }),
    evaluatePolicy: makeAskGatePolicy(policies, evaluations, decisionLog),
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
    logger.warn({ instance, error: error.message }, 'not kept that an instance was asked after')
  }
}

/** Lets instances expire when their time has come, looks for work that failed before, and removes what ended long ago. */
function startClock({ gates }: Config, parts: GatesParts, work: GateWork): () => Promise<void> {
  const { store, logger, wakeOutbox } = parts
  const failed = (error: Error): void =>
    logger.error({ error: toAppError(error).message }, 'the clock of gates could not be followed')
  const expiring = repeat(CLOCK_INTERVAL_MS, (signal) => expireDue(store, wakeOutbox, signal), failed)
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
    await Promise.all([expiring.stop(), rescanning.stop(), removing.stop()])
  }
}

/** Looks before it writes, so that the thread that writes need not start for nothing. */
async function removeOld({ store, logger }: GatesParts, keepMs: number, signal: AbortSignal): Promise<void> {
  const beforeMs = store.removalTime() - keepMs
  const oldestMs = await store.lookups.gates.oldestEndMs()
  if (oldestMs === undefined || oldestMs >= beforeMs) return
  const instances = await removeAllEnded(store.writer, { beforeMs, nowMs: store.now(), signal })
  if (instances > 0) logger.info({ instances }, 'removed gate instances that ended long ago')
}

/** Looks before it writes, as `removeOld` does. */
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
