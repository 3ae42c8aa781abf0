import { AppError } from '../../errors/app-error.js'
import { redactSecrets } from '../../lib/redaction/redact.js'
import type {
  NewRun,
  PlanPart,
  RunFilter,
  RunProgress,
  StoredDefinition,
  StoredInterval,
  StoredRun,
} from '../../store/ports/analysis-store.js'
import type { AuditEntry } from '../../store/ports/audit-store.js'
import type { OutboxRepository } from '../../store/ports/outbox-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { WriteOperation } from '../../store/ports/transaction.js'
import { joinPlan, partsOf } from './definitions/kept-plan.js'
import type { RunPlan } from './definitions/plan.js'
import type { Notification } from './notifications.js'

/** The author, time and origin of an action, for the audit trail. */
export interface Actor {
  readonly nowMs: number
  readonly user: string | undefined
  readonly origin: string | undefined
}

/** Keeps how an application is analysed. */
export const saveDefinition: WriteOperation<
  { readonly definition: StoredDefinition; readonly actor: Actor },
  void
> = {
  name: 'analysis.save-definition',
  apply: async ({ analysis, audit }, { definition, actor }) => {
    const before = await analysis.findDefinition(definition.application)
    // A restart that reads the same files again is not a change.
    if (before?.definition === definition.definition && before.origin === definition.origin) return
    await analysis.saveDefinition(definition)
    await audit.append(
      entryOf('analysis.defined', definition.application, actor, JSON.parse(definition.definition) as object),
    )
  },
}

/** Forgets how an application is analysed. Raises `not_found` when nothing was known. */
export const deleteDefinition: WriteOperation<{ readonly application: string; readonly actor: Actor }, void> =
  {
    name: 'analysis.delete-definition',
    apply: async ({ analysis, audit }, { application, actor }) => {
      if (!(await analysis.deleteDefinition(application))) throw undefinedAnalysis(application)
      await audit.append(entryOf('analysis.undefined', application, actor, {}))
    },
  }

export interface RunStart {
  readonly run: NewRun
  readonly planParts: readonly PlanPart[]
  readonly actor: Actor
}

/** Starts a run; returns its number. The trail names the parts of its plan by their SHA-256. */
export const startRun: WriteOperation<RunStart, number> = {
  name: 'analysis.start',
  apply: async ({ analysis, audit }, { run, planParts, actor }) => {
    const id = await analysis.insertRun(run, planParts)
    const about = { run: id, looks: run.intervals, plan: JSON.parse(run.plan) as object }
    await audit.append({
      ...entryOf('analysis.started', run.application, actor, about),
      executionId: run.executionId,
    })
    return id
  },
}

/**
 * Counts an attempt at the next interval of a run before it starts, so the count survives the end
 * of the process.
 */
export const noteIntervalAttempts: WriteOperation<{ readonly id: number; readonly attempts: number }, void> =
  {
    name: 'analysis.note-interval-attempts',
    apply: ({ analysis }, { id, attempts }) => analysis.saveIntervalAttempts(id, attempts),
  }

export interface IntervalOutcome {
  readonly interval: StoredInterval
  readonly progress: RunProgress
  /** Templates of the log to remember for the application. */
  readonly logTemplates: readonly string[]
  /** Messages to send; each subject is sent once. */
  readonly notifications?: readonly Notification[]
  /** The chosen instances of each service, for the trail. */
  readonly instances?: readonly object[] | undefined
}

/**
 * Stores the judgement of an interval and the new state of its run, unless the run was cancelled.
 * Returns whether it was stored.
 */
export const recordInterval: WriteOperation<IntervalOutcome, boolean> = {
  name: 'analysis.record-interval',
  apply: async (
    { analysis, audit, outbox },
    { interval, progress, logTemplates, notifications = [], instances },
  ) => {
    const run = await analysis.findRun(progress.id)
    // The run ended, or another process took it over and judged the interval.
    if (run?.state !== 'RUNNING' || run.intervalsDone >= progress.intervalsDone) return false
    await analysis.saveInterval(interval)
    await analysis.saveProgress(progress)
    await analysis.rememberLogTemplates(run.application, logTemplates, run.id)
    await enqueueOnce(outbox, notifications)
    const actor = { nowMs: progress.updatedMs, user: undefined, origin: undefined }
    if (instances !== undefined) {
      const about = { run: run.id, interval: interval.interval, instances }
      await audit.append({
        ...entryOf('analysis.instances-chosen', run.application, actor, about),
        executionId: run.executionId,
      })
    }
    if (progress.state === 'RUNNING') return true
    const { score, verdict, message, errors } = progress
    await audit.append({
      ...entryOf('analysis.completed', run.application, actor, {
        run: run.id,
        score,
        verdict,
        message,
        errors,
      }),
      executionId: run.executionId,
      status: verdict,
    })
    return true
  },
}

/**
 * Adds messages with new subjects to the outbox. All receivers of a subject get it in the same
 * transaction.
 */
async function enqueueOnce(outbox: OutboxRepository, notifications: readonly Notification[]): Promise<void> {
  const sent = new Map<string, boolean>()
  for (const { subject } of notifications) {
    if (!sent.has(subject)) sent.set(subject, (await outbox.statesOf(subject)).length > 0)
  }
  for (const notification of notifications) {
    if (sent.get(notification.subject) === false) await outbox.enqueue(notification)
  }
}

/** Cancels a run. A run that has ended is unchanged. Returns the run. Raises `not_found`. */
export const cancelRun: WriteOperation<{ readonly id: number; readonly actor: Actor }, StoredRun> = {
  name: 'analysis.cancel',
  apply: async ({ analysis, audit }, { id, actor }) => {
    const run = await analysis.findRun(id)
    if (run === undefined) throw unknownRun(id)
    if (run.state !== 'RUNNING') return run
    const message = `cancelled after ${run.intervalsDone} of ${run.intervals} intervals`
    const cancelled: StoredRun = {
      ...run,
      state: 'CANCELLED',
      message,
      finishedMs: actor.nowMs,
      updatedMs: actor.nowMs,
    }
    await analysis.saveProgress(cancelled)
    await audit.append({
      ...entryOf('analysis.cancelled', run.application, actor, { run: id, message }),
      executionId: run.executionId,
      status: 'CANCELLED',
    })
    return cancelled
  },
}

/** Lists runs, newest first. */
export const listRuns: ReadOperation<RunFilter, readonly StoredRun[]> = {
  name: 'analysis.runs',
  apply: ({ analysis }, filter) => analysis.runs(filter),
}

/** Finds one run. */
export const findRun: ReadOperation<number, StoredRun | undefined> = {
  name: 'analysis.run',
  apply: ({ analysis }, id) => analysis.run(id),
}

/** A run with its plan. */
export interface PlannedRun {
  readonly run: StoredRun
  readonly plan: RunPlan
}

/** Finds one run with its plan. */
export const findPlannedRun: ReadOperation<number, PlannedRun | undefined> = {
  name: 'analysis.planned-run',
  apply: async ({ analysis }, id) => {
    const run = await analysis.run(id)
    return run && { run, plan: joinPlan(run.plan, await analysis.planParts(partsOf(run.plan))) }
  },
}

/** How the applications are analysed. */
export const listDefinitions: ReadOperation<null, readonly StoredDefinition[]> = {
  name: 'analysis.definitions',
  apply: ({ analysis }) => analysis.definitions(),
}

/** Finds one definition. */
export const findDefinition: ReadOperation<string, StoredDefinition | undefined> = {
  name: 'analysis.definition',
  apply: ({ analysis }, application) => analysis.definition(application),
}

/** The templates that the log of an application had in earlier runs. */
export const listLogTemplates: ReadOperation<string, readonly string[]> = {
  name: 'analysis.log-templates',
  apply: ({ analysis }, application) => analysis.logTemplates(application),
}

/** The error for an unknown run. */
export function unknownRun(id: number | string): AppError {
  return new AppError('not_found', `there is no analysis ${id}`)
}

/** The error for an application without a definition. */
export function undefinedAnalysis(application: string): AppError {
  return new AppError(
    'not_found',
    `No analysis is defined for "${application}". Add ${application}.yaml to \`analysis.definitions\`.`,
  )
}

/** An entry of the audit trail about analyses, without secrets. */
export function entryOf(
  kind: string,
  application: string | undefined,
  actor: Actor,
  body: object,
): AuditEntry {
  const { nowMs, user, origin } = actor
  return {
    timeMs: nowMs,
    source: 'analysis',
    kind,
    application,
    user,
    origin,
    body: redactSecrets(Buffer.from(JSON.stringify(body))).text,
  }
}
