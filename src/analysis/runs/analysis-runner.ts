import { toAppError, toError } from '../../errors.js'
import type { StoredRun } from '../../store/analysis-store.js'
import type { Reader } from '../../store/readers.js'
import type { Writer } from '../../store/transaction.js'
import { afterLook } from './after-look.js'
import { findRun, listLogTemplates, listRuns, recordLook } from './analysis-operations.js'
import type { LookReport } from './look-report.js'
import type { RunPlan } from './plan.js'

/** One look to take. */
export interface LookRequest {
  readonly runId: number
  readonly plan: RunPlan
  readonly look: number
  /** Templates of the log that earlier runs of the application had. */
  readonly seenLogTemplates: readonly string[]
}

/** A look that was taken. */
export interface LookResult {
  readonly report: LookReport
  /** What was fetched, enough to judge it again: `LookData` without its lines and the lines, packed. */
  readonly data: Uint8Array
  readonly lines: Uint8Array
  readonly logTemplates: readonly string[]
}

export interface AnalysisRunnerOptions {
  readonly writer: Writer
  readonly reader: Reader
  /** Fetches and judges; what goes wrong at a source is part of the report. Rejects only when no report can be made, or is wanted. */
  readonly takeLook: (request: LookRequest, stopped: AbortSignal) => Promise<LookResult>
  /** The report of a look that could not be taken. */
  readonly failedLook: (request: LookRequest, error: Error) => LookResult
  readonly now: () => number
  /** Calls back once after so many milliseconds, unless the function that it gives is called first. */
  readonly setTimer: (callback: () => void, delayMs: number) => () => void
  readonly looked: (run: StoredRun, report: LookReport) => void
  /** Told when the store could not be asked. */
  readonly failed: (error: Error) => void
}

const PAGE = 200
const LONGEST_SLEEP_MS = 60_000
const AFTER_FAILURE_MS = 5000

/** Takes the looks of all running analyses when they are due, one at a time, and goes on after a restart. */
export class AnalysisRunner {
  readonly #options: AnalysisRunnerOptions
  readonly #dueMs = new Map<number, number>()
  #working: Promise<void> | undefined
  #cancelTimer: () => void = () => undefined
  readonly #stop = new AbortController()

  constructor(options: AnalysisRunnerOptions) {
    this.#options = options
  }

  /** Takes up the runs that an earlier process had under way. */
  async start(): Promise<void> {
    let beforeId: number | undefined
    for (;;) {
      const runs = await this.#options.reader.run(listRuns, { state: 'RUNNING', beforeId, limit: PAGE })
      for (const { id, nextLookMs } of runs) this.#dueMs.set(id, nextLookMs)
      beforeId = runs.at(-1)?.id
      if (runs.length < PAGE) break
    }
    this.#wake()
  }

  /** A run has been started. */
  schedule(id: number, dueMs: number): void {
    this.#dueMs.set(id, dueMs)
    this.#wake()
  }

  /** A run has been cancelled: what is under way for it is not kept. */
  forget(id: number): void {
    this.#dueMs.delete(id)
  }

  /** Takes no more looks; the one under way is taken again after the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#cancelTimer()
    await this.#working
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  #wake(): void {
    this.#working ??= this.#work().then(() => {
      this.#working = undefined
      this.#sleep()
    })
  }

  async #work(): Promise<void> {
    let next = this.#nextRun()
    while (!this.#isStopped && next !== undefined && next.dueMs <= this.#options.now()) {
      await this.#look(next.id)
      next = this.#nextRun()
    }
  }

  #sleep(): void {
    this.#cancelTimer()
    const next = this.#nextRun()
    if (this.#isStopped || next === undefined) return
    const delayMs = Math.max(next.dueMs - this.#options.now(), 0)
    this.#cancelTimer = this.#options.setTimer(() => this.#wake(), Math.min(delayMs, LONGEST_SLEEP_MS))
  }

  #nextRun(): { readonly id: number; readonly dueMs: number } | undefined {
    let next: { id: number; dueMs: number } | undefined
    for (const [id, dueMs] of this.#dueMs) if (next === undefined || dueMs < next.dueMs) next = { id, dueMs }
    return next
  }

  async #look(id: number): Promise<void> {
    try {
      const nextMs = await this.#takeAndRecord(id)
      // It may have been cancelled while the look was taken.
      if (nextMs === undefined) this.#dueMs.delete(id)
      else if (this.#dueMs.has(id)) this.#dueMs.set(id, nextMs)
    } catch (raw) {
      this.#options.failed(toError(raw))
      if (this.#dueMs.has(id)) this.#dueMs.set(id, this.#options.now() + AFTER_FAILURE_MS)
    }
  }

  /** Gives when the run is to be looked at again. */
  async #takeAndRecord(id: number): Promise<number | undefined> {
    const { reader } = this.#options
    const run = await reader.run(findRun, id)
    if (run?.state !== 'RUNNING') return undefined
    const plan = JSON.parse(run.plan) as RunPlan
    const request: LookRequest = {
      runId: id,
      plan,
      look: run.looksDone + 1,
      seenLogTemplates: await reader.run(listLogTemplates, run.application),
    }
    const result = await this.#take(request)
    if (this.#isStopped) return undefined
    try {
      return await this.#record(run, request, result)
    } catch (raw) {
      const error = toAppError(raw)
      if (error.kind === 'unavailable') throw error
      // What cannot be kept, being too large for instance, would not be kept the next time either.
      return await this.#record(run, request, this.#options.failedLook(request, error))
    }
  }

  async #record(run: StoredRun, { plan }: LookRequest, result: LookResult): Promise<number | undefined> {
    const { writer, now, looked } = this.#options
    const { report, data, lines, logTemplates } = result
    const nowMs = now()
    const progress = afterLook(run.id, plan, report, nowMs)
    const look = {
      runId: run.id,
      look: report.look,
      atMs: nowMs,
      report: JSON.stringify(report),
      data,
      lines,
    }
    // What a canary logged that did not pass stays new to the next one.
    const isGood = progress.state === 'COMPLETED' && progress.verdict === 'Success'
    const isKept = await writer.run(recordLook, {
      look,
      progress,
      logTemplates: isGood ? logTemplates : [],
    })
    if (!isKept) return undefined
    looked(run, report)
    return progress.state === 'RUNNING' ? progress.nextLookMs : undefined
  }

  async #take(request: LookRequest): Promise<LookResult> {
    try {
      return await this.#options.takeLook(request, this.#stop.signal)
    } catch (raw) {
      return this.#options.failedLook(request, toError(raw))
    }
  }
}
