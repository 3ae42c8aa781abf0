import type { Config } from '../config/config.js'
import { Enforcement, MAX_ADVICE_MS } from '../enforcement/enforcement.js'
import { ExceptionBook, isApproved } from '../enforcement/exceptions/exception-book.js'
import { listExceptions, noticeExpiring } from '../enforcement/exceptions/exception-operations.js'
import { toError } from '../errors/app-error.js'
import { addExceptionMetrics } from '../http/metrics/service-metrics.js'
import type { ExceptionCounts, ServiceMetrics } from '../http/metrics/service-metrics.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import type { ExceptionRoutesDeps } from '../http/routes/policies/exceptions.js'
import type { PackageRoutesDeps } from '../http/routes/policies/packages.js'
import type { Logger } from '../lib/logger.js'
import type { Policies } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { OnStop } from './close-parts.js'
import type { Reloads } from './reload/reloads.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'

const MS_PER_DAY = 86_400_000
/** How late changes of other services with the same store take effect. */
const REFRESH_INTERVAL_MS = 5000
const NOTICE_INTERVAL_MS = 60_000
/** Ended exceptions are listed for this long. */
const KEEP_ENDED_MS = 30 * MS_PER_DAY

/** How the verdicts of policies count. */
export interface OpenEnforcement {
  readonly enforcement: Enforcement
  readonly health: readonly HealthPlugin[]
  readonly routes: ExceptionRoutesDeps
  readonly packages: Pick<PackageRoutesDeps, 'policies' | 'enforcement' | 'exceptions' | 'now'>
  /** The exceptions in effect, for other processes. */
  readonly exceptions: () => readonly PolicyException[]
  /** Sets the function that sends changed exceptions to the worker processes. */
  readonly shareWith: (send: (all: readonly PolicyException[]) => Promise<void>) => void
}

interface EnforcementParts {
  readonly policies: Pick<Policies, 'current'>
  readonly store: ServiceStore
  readonly leadership: Leadership
  readonly logger: Logger
  readonly metrics: Pick<ServiceMetrics, 'registry'>
  readonly onStop: OnStop
  readonly reloads: Pick<Reloads, 'add'>
}

/**
 * Opens the levels of packages and the exceptions, which are kept in memory. Without the store, the
 * exceptions that were read last apply until their end; at the start there are none then.
 */
export async function openEnforcement(config: Config, parts: EnforcementParts): Promise<OpenEnforcement> {
  const { policies, store, leadership, logger, metrics, onStop } = parts
  const { levels, exceptions: settings } = config.policies
  const noticeMs = settings.noticeDays * MS_PER_DAY
  const book = new ExceptionBook()
  const enforcement = new Enforcement({ levels, exceptions: book, maxAdviceMs: MAX_ADVICE_MS })
  parts.reloads.add((next) => ({ commit: () => enforcement.use(next.config.policies.levels) }))
  const refreshing = refreshContinually(book, store)
  await refreshing.now()
  const notices = repeat(
    NOTICE_INTERVAL_MS,
    leadership.led(() => recordExpiring(book, parts, noticeMs)),
    (error) => logger.error({ error: error.message }, 'ends of exceptions not recorded'),
  )
  onStop('exceptions', async () => {
    await notices.stop()
    await refreshing.stop()
  })
  addExceptionMetrics(metrics.registry, () => countExceptions(book.all, store.now(), noticeMs))
  for (const problem of enforcement.levels.problems(policies.current, Date.now()))
    logger.warn({ code: problem.code }, problem.message)
  return {
    enforcement,
    health: [levelsHealth(enforcement, policies), exceptionsHealth(refreshing.problem)],
    routes: {
      ...{ policies, writer: store.writer, reader: store.reader, now: store.now },
      approval: settings.approval,
      maxMs: settings.maxDays * MS_PER_DAY,
      maxBodyBytes: config.server.maxBodyBytes,
      changed: refreshing.now,
    },
    packages: { policies, enforcement, exceptions: book, now: store.now },
    exceptions: () => book.all,
    shareWith: refreshing.shareWith,
  }
}

interface Refreshing {
  /** Reads the exceptions now. Never rejects. */
  readonly now: () => Promise<void>
  readonly problem: () => string | undefined
  readonly shareWith: OpenEnforcement['shareWith']
  readonly stop: () => Promise<void>
}

/** Reads the exceptions again when they have changed. */
function refreshContinually(book: ExceptionBook, { lookups, reader }: ServiceStore): Refreshing {
  let known: string | undefined
  let problem: string | undefined
  let send: (all: readonly PolicyException[]) => Promise<void> = () => Promise.resolve()
  const refresh = async (): Promise<void> => {
    try {
      const version = await lookups.exceptions.version()
      if (version !== known) {
        // The thread that reads need not start where there are none.
        book.replace(version === undefined ? [] : await reader.run(listExceptions, null))
        known = version
        await send(book.all)
      }
      problem = undefined
    } catch (raw) {
      problem = toError(raw).message
    }
  }
  const repeated = repeat(REFRESH_INTERVAL_MS, refresh, () => undefined)
  return {
    now: repeated.runNow,
    problem: () => problem,
    shareWith: (given) => (send = given),
    stop: repeated.stop,
  }
}

/** Writes nothing if nothing is due. */
async function recordExpiring(
  book: ExceptionBook,
  { store, logger }: Pick<EnforcementParts, 'store' | 'logger'>,
  withinMs: number,
): Promise<void> {
  const nowMs = store.now()
  const removeBeforeMs = store.removalTime() - KEEP_ENDED_MS
  const isDue = ({ untilMs, noticedMs }: PolicyException): boolean =>
    untilMs < removeBeforeMs || (noticedMs === undefined && untilMs > nowMs && untilMs <= nowMs + withinMs)
  if (!book.all.some(isDue)) return
  for (const { id, package: name, owner, untilMs } of await store.writer.run(noticeExpiring, {
    ...{ nowMs, withinMs, removeBeforeMs },
  })) {
    const until = new Date(untilMs).toISOString()
    logger.warn({ exception: id, package: name, owner, until }, 'an exception ends soon')
  }
}

function countExceptions(all: readonly PolicyException[], nowMs: number, withinMs: number): ExceptionCounts {
  const current = all.filter(({ untilMs }) => untilMs > nowMs)
  const active = current.filter(isApproved)
  return {
    active: active.length,
    pending: current.length - active.length,
    expiring: active.filter(({ untilMs }) => untilMs <= nowMs + withinMs).length,
  }
}

function levelsHealth(enforcement: Enforcement, policies: Pick<Policies, 'current'>): HealthPlugin {
  return {
    name: 'policy_levels',
    isUp: () => true,
    warning: () => {
      const problems = enforcement.levels.problems(policies.current, Date.now())
      return problems.length === 0 ? undefined : problems.map(({ message }) => message).join('; ')
    },
  }
}

function exceptionsHealth(problem: () => string | undefined): HealthPlugin {
  return {
    name: 'exceptions',
    isUp: () => true,
    warning: () => {
      const found = problem()
      return found && `exceptions cannot be read; those known before apply until their end: ${found}`
    },
  }
}
