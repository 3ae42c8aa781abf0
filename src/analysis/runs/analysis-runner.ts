import { AppError, toAppError, toError } from '../../errors/app-error.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'
import type { Leases } from '../../store/ports/leases.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Writer } from '../../store/ports/transaction.js'
import { afterInterval } from './intervals/after-interval.js'
import {
  findPlannedRun,
  listLogTemplates,
  listRuns,
  noteIntervalAttempts,
  recordInterval,
} from './analysis-operations.js'
import { RunQueue } from './intervals/run-queue.js'
import type { WaitingRun } from './intervals/run-queue.js'
import type { IntervalReport } from './intervals/interval-report.js'
import type { JudgedInterval, Notification } from './notifications.js'
import type { RunPlan } from './definitions/plan.js'
import { listUsualSpreads } from './intervals/usual-spreads.js'
import type { NamedSpread } from './intervals/usual-spreads.js'
import { intervalToJudge } from './intervals/schedule.js'

/** One interval to judge. */
export interface IntervalRequest {
  readonly runId: number
  readonly plan: RunPlan
  readonly interval: number
  /** The interval that was judged before, 0 for none. The preceding one by default. */
  readonly after?: number | undefined
  /** Templates of the log that earlier runs of the application had. */
  readonly seenLogTemplates: readonly string[]
  /** How far both sides lay apart in former runs. */
  readonly usualSpreads?: readonly NamedSpread[] | undefined
}

/** The judgement of an interval. */
export interface IntervalResult {
  readonly report: IntervalReport
  /**
   * The fetched data, packed, sufficient to judge the interval again: `IntervalData` without its
   * lines, and the lines.
   */
  readonly data: Uint8Array
  readonly lines: Uint8Array
  readonly logTemplates: readonly string[]
}

export interface AnalysisRunnerOptions {
  readonly writer: Writer
  readonly reader: Reader
  readonly leases: Leases
  /** How many intervals of different runs may be under way at a time. */
  readonly concurrentIntervals: number
  /**
   * Fetches and judges. Problems of a source are part of the report. Rejects only if no report can
   * be made, or is wanted.
   */
  readonly evaluateInterval: (request: IntervalRequest, givenUp: AbortSignal) => Promise<IntervalResult>
  /** Whether an error of `evaluateInterval` means that its thread ended. */
  readonly hasEndedThread: (error: Error) => boolean
  /** The report of an interval that could not be judged. */
  readonly failedInterval: (request: IntervalRequest, error: Error) => IntervalResult
  readonly now: () => number
  /** Calls back once after this many milliseconds, unless the returned function is called first. */
  readonly setTimer: (callback: () => void, delayMs: number) => () => void
  readonly judged: (run: StoredRun, report: IntervalReport) => void
  /** The messages about an interval, for the transaction that stores it. */
  readonly notifications: (judged: JudgedInterval) => readonly Notification[]
  /** Called when something may have been put into the outbox. */
  readonly notified: () => void
  /** Called if a store operation failed. */
  readonly failed: (error: Error) => void
}

interface IntervalUnderWay {
  readonly giveUp: AbortController
  readonly ended: Promise<void>
}

const PAGE = 200
const LONGEST_SLEEP_MS = 60_000
const AFTER_FAILURE_MS = 5000
/** The kind of lease of a run that is being judged. */
const ANALYSIS = 'analysis'
/** Maximum number of attempts at an interval that ends the process each time. */
const MAX_ATTEMPTS = 2

/**
 * Judges the intervals of all running analyses when they are due, several at a time, and continues
 * after a restart.
 */
export class AnalysisRunner {
  readonly #options: AnalysisRunnerOptions
  readonly #queue: RunQueue
  readonly #underWay = new Map<number, IntervalUnderWay>()
  /**
   * Attempts of earlier processes at the interval of each run that this process has counted as
   * started.
   */
  readonly #noted = new Map<number, number>()
  #cancelTimer: () => void = () => undefined
  #isStopped = false

  constructor(options: AnalysisRunnerOptions) {
    this.#options = options
    this.#queue = new RunQueue(options.concurrentIntervals)
  }

  /** Takes up the runs that an earlier process had under way. */
  async start(): Promise<void> {
    let beforeId: number | undefined
    for (;;) {
      const runs = await this.#options.reader.run(listRuns, { state: 'RUNNING', beforeId, limit: PAGE })
      for (const { id, application, nextIntervalMs: nextIntervalMs } of runs) {
        this.#queue.add({ id, application, dueMs: nextIntervalMs })
      }
      beforeId = runs.at(-1)?.id
      if (runs.length < PAGE) break
    }
    this.#wake()
  }

  /** Adds a run that was started. */
  schedule(run: WaitingRun): void {
    this.#queue.add(run)
    this.#wake()
  }

  /** Removes a cancelled run: its running interval is given up and not stored. */
  forget(id: number): void {
    this.#queue.remove(id)
    this.#underWay.get(id)?.giveUp.abort()
  }

  /** Stops judging. Running intervals are judged again after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    const intervals = [...this.#underWay.values()]
    for (const { giveUp } of intervals) giveUp.abort()
    await Promise.all(intervals.map(({ ended }) => ended))
  }

  /**
   * Starts every due interval within the limit of concurrent ones, and sleeps until the next one is
   * due.
   */
  #wake(): void {
    this.#cancelTimer()
    if (this.#isStopped) return
    const nowMs = this.#options.now()
    let next = this.#queue.next()
    for (; next !== undefined && next.dueMs <= nowMs; next = this.#queue.next()) this.#begin(next)
    // At the limit, the end of an interval wakes. Sleeps are short because the clock may be set.
    if (next === undefined) return
    const delayMs = Math.min(Math.max(next.dueMs - nowMs, 0), LONGEST_SLEEP_MS)
    this.#cancelTimer = this.#options.setTimer(() => this.#wake(), delayMs)
  }

  #begin(run: WaitingRun): void {
    this.#queue.begin(run)
    const giveUp = new AbortController()
    const ended = this.#judge(run.id, giveUp.signal).then(() => {
      this.#underWay.delete(run.id)
      this.#queue.end(run.id)
      this.#wake()
    })
    this.#underWay.set(run.id, { giveUp, ended })
  }

  async #judge(id: number, givenUp: AbortSignal): Promise<void> {
    try {
      const lease = await this.#options.leases.take(ANALYSIS, String(id))
      // Another process judges it. Its result is read then.
      if (lease === undefined) {
        this.#queue.postpone(id, this.#options.now() + AFTER_FAILURE_MS)
        return
      }
      const nextMs = await this.#takeAndRecord(id, AbortSignal.any([givenUp, lease.lost])).finally(
        lease.release,
      )
      // It may have been cancelled while the interval was judged.
      if (nextMs === undefined) this.#queue.remove(id)
      else this.#queue.postpone(id, nextMs)
    } catch (raw) {
      this.#options.failed(toError(raw))
      this.#queue.postpone(id, this.#options.now() + AFTER_FAILURE_MS)
    }
  }

  /** Returns when the next interval of the run is due. */
  async #takeAndRecord(id: number, givenUp: AbortSignal): Promise<number | undefined> {
    const { reader, writer } = this.#options
    const found = await reader.run(findPlannedRun, id)
    if (found?.run.state !== 'RUNNING') return undefined
    const { run, plan } = found
    // Another process may have judged it since.
    if (run.nextIntervalMs > this.#options.now()) return run.nextIntervalMs
    const request: IntervalRequest = {
      runId: id,
      plan,
      interval: intervalToJudge(plan, run, this.#options.now()),
      after: run.intervalsDone,
      seenLogTemplates: await reader.run(listLogTemplates, run.application),
      usualSpreads: await reader.run(listUsualSpreads, run.application),
    }
    const { intervalAttempts: attempts = 0 } = run
    // An attempt counted by this process ended without its death, for instance because the result
    // could not be stored.
    if (!this.#noted.has(id)) {
      if (attempts >= MAX_ATTEMPTS) return await this.#record(run, request, this.#suspend(request, attempts))
      await writer.run(noteIntervalAttempts, { id, attempts: attempts + 1 })
      this.#noted.set(id, attempts)
    }
    const taken = await this.#take(request, givenUp)
    if (givenUp.aborted) {
      // Stopped or cancelled, not dead.
      await writer.run(noteIntervalAttempts, { id, attempts: this.#noted.get(id) ?? 0 })
      this.#noted.delete(id)
      return undefined
    }
    return await this.#keep(run, request, taken, (this.#noted.get(id) ?? 0) + 1)
  }

  /**
   * Stores the result of an interval. The end of its thread counts like the end of the process,
   * until an interval succeeds.
   */
  async #keep(
    run: StoredRun,
    request: IntervalRequest,
    taken: IntervalResult | Error,
    attempts: number,
  ): Promise<number | undefined> {
    const hasEndedThread = taken instanceof Error && this.#options.hasEndedThread(taken)
    if (hasEndedThread && attempts >= MAX_ATTEMPTS) {
      return await this.#record(run, request, this.#suspend(request, attempts))
    }
    try {
      const result = taken instanceof Error ? this.#options.failedInterval(request, taken) : taken
      const nextMs = await this.#record(run, request, result)
      if (hasEndedThread && nextMs !== undefined) {
        await this.#options.writer.run(noteIntervalAttempts, { id: run.id, attempts })
      }
      return nextMs
    } catch (raw) {
      const error = toAppError(raw)
      if (error.kind === 'unavailable') throw error
      // A result that cannot be stored, for instance because it is too large, could not be stored
      // next time either.
      return await this.#record(run, request, this.#options.failedInterval(request, error))
    }
  }

  async #record(
    run: StoredRun,
    { plan }: IntervalRequest,
    result: IntervalResult,
  ): Promise<number | undefined> {
    const { writer, now, judged } = this.#options
    const { report, data, lines, logTemplates } = result
    const nowMs = now()
    const progress = afterInterval(run, plan, report, nowMs)
    const interval = {
      runId: run.id,
      interval: report.look,
      atMs: nowMs,
      report: JSON.stringify(report),
      data,
      lines,
    }
    // Log templates of a canary that did not pass stay new to the next one.
    const isGood = progress.state === 'COMPLETED' && progress.verdict === 'Success'
    const notifications = this.#options.notifications({ run, progress, report })
    const isKept = await writer.run(recordInterval, {
      interval,
      progress,
      logTemplates: isGood ? logTemplates : [],
      notifications,
      ...(plan.instances !== undefined && { instances: instancesOf(report) }),
    })
    this.#noted.delete(run.id)
    if (!isKept) return undefined
    if (notifications.length > 0) this.#options.notified()
    judged(run, report)
    return progress.state === 'RUNNING' ? progress.nextIntervalMs : undefined
  }

  /** Ends a run with an interval that can never be judged. */
  #suspend(request: IntervalRequest, attempts: number): IntervalResult {
    const error = new AppError(
      'unavailable',
      `the service or the thread of the interval ended ${attempts} times while it was judged, and is not started again: narrow its queries, and register the analysis again`,
    )
    const result = this.#options.failedInterval(request, error)
    return { ...result, report: { ...result.report, endsRun: true } }
  }

  async #take(request: IntervalRequest, givenUp: AbortSignal): Promise<IntervalResult | Error> {
    // The interval was given up while the store was queried.
    if (givenUp.aborted) return new Error('the interval was given up before it started')
    try {
      return await this.#options.evaluateInterval(request, givenUp)
    } catch (raw) {
      return toError(raw)
    }
  }
}

/** The compared scopes of each service, with the chosen instances. */
function instancesOf({ compared = [] }: IntervalReport): readonly object[] {
  return compared.map(({ name, part, baseline, canary }) => ({
    ...{ name, part, baseline: baseline.scope, canary: canary.scope },
  }))
}
