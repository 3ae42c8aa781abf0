import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:net'

import { AppError, toError } from '../../errors/app-error.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Logger } from '../../lib/logger.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { Snapshot, Staged } from '../../rego/index.js'
import type { PolicyException } from '../../store/ports/exception-store.js'
import type { PolicySender } from './policy-sender.js'
import { sumCounts } from './sum-metrics.js'
import type { MetricValues } from './sum-metrics.js'
import type { MainCalls, SentPolicies, SentStage, WorkerCalls, WorkerSettings } from './worker-calls.js'
import { WorkerProcess } from './worker-process.js'

/** Time limit for preparing policies, in milliseconds. */
const LOAD_MS = 60_000
/** Time limit for short calls, in milliseconds. */
const ANSWER_MS = 1000
/** Time between two checks of the worker processes. */
const CHECK_MS = 5000
/**
 * Number of checks without an answer after which a worker process counts as unavailable, and after
 * which it is killed.
 */
const [SILENT, MAX_SILENCES] = [2, 6]
/**
 * Number of checks after which a starting worker process is killed: two minutes, enough to read
 * hundreds of megabytes of data on a slow machine.
 */
const MAX_STARTING_CHECKS = 24
/** Shortest and longest delay before a worker process that ended is replaced. */
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
/** An end counts as recent for this time. Recent ends make the delay longer. */
const RECENT_MS = 300_000
/** Also the value of a metric label. */
const NAME = 'a worker'

export interface WorkerPoolOptions {
  /** Number of worker processes, without the main process. */
  readonly count: number
  readonly fork: () => ChildProcess
  /** Returns the current settings. */
  readonly settings: () => WorkerSettings
  readonly policies: PolicySender
  /** Returns the exceptions that apply. */
  readonly exceptions: () => readonly PolicyException[]
  /** Returns the calls that a worker process may make. `ended` is called when it has ended. */
  readonly callsFor: () => { readonly calls: MainCalls; readonly ended: () => void }
  /** In the order of the addresses of the settings. */
  readonly listeners: readonly Server[]
  readonly logger: Logger
  readonly died: (death: ThreadDeath) => void
}

/** The worker processes of the service. One that ends is replaced. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers = new Set<WorkerProcess>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  readonly #metrics = new Map<WorkerProcess, MetricValues>()
  #countsOfEnded: MetricValues = []
  #deathTimes: number[] = []
  #isStopping = false
  #staged: SentStage | undefined
  #loading: Promise<void> = Promise.resolve()
  readonly #checks: NodeJS.Timeout

  /** Starts the worker processes. They accept requests as soon as they are ready. */
  constructor(options: WorkerPoolOptions) {
    this.#options = options
    for (let started = 0; started < options.count; started += 1) this.#start()
    // Metrics are fetched at each check, so that the counts of a process that ends are not lost.
    this.#checks = setInterval(() => this.#check(), CHECK_MS).unref()
  }

  /** Number of worker processes that do not accept requests although they should. */
  get missing(): number {
    return this.#options.count - this.#serving().filter(({ silences }) => silences < SILENT).length
  }

  /**
   * Prepares policies in all worker processes, then puts them into service everywhere. One that
   * fails is replaced. Starting ones are not waited for, since they get the latest policies before
   * they accept requests.
   */
  async load(snapshot: Snapshot): Promise<void> {
    const loading = this.#load(snapshot)
    this.#loading = loading.catch(() => undefined)
    await loading
  }

  async #load(snapshot: Snapshot): Promise<void> {
    const { policies } = this.#options
    const sent = await policies.prepare(snapshot)
    const following = [...this.#workers].filter(({ hasPolicies }) => hasPolicies)
    await this.#callAll(following, 'load', sent)
    await this.#callAll(following, 'activate', sent.id)
    this.#staged = undefined
    await policies.forgetOlder([...this.#workers].flatMap(({ reads }) => reads ?? []))
  }

  /** Sends policies that answer a share of requests to all worker processes; none if undefined. */
  async stage(staged: Staged | undefined): Promise<void> {
    const { policies } = this.#options
    const sent = staged && (await policies.prepare(staged.snapshot, true))
    const following = [...this.#workers].filter(({ hasPolicies }) => hasPolicies)
    if (sent !== undefined) await this.#callAll(following, 'load', sent)
    this.#staged = staged && sent && { id: sent.id, sharePercent: staged.sharePercent }
    await this.#callAll(following, 'stage', this.#staged)
  }

  /** Switches new connections of all worker processes to another certificate. */
  async renewTls(settings: TlsSettings): Promise<void> {
    await this.#callAll([...this.#workers], 'renewTls', settings)
  }

  /**
   * Metrics of all worker processes, including ended ones. If one does not answer in time, its last
   * metrics are used.
   */
  async metrics(): Promise<readonly MetricValues[]> {
    const asked = this.#serving().map(async (worker) => {
      const fetched = this.#fetchMetrics(worker)
      // A silent one would delay every caller.
      if (worker.silences < SILENT) await within(ANSWER_MS, fetched)
      else fetched.catch(() => undefined)
    })
    await Promise.all(asked)
    return [this.#countsOfEnded, ...this.#metrics.values()]
  }

  /** An answer that arrives late is used by the next call. */
  async #fetchMetrics(worker: WorkerProcess): Promise<true> {
    const metrics = await worker.link.call('metrics', undefined)
    worker.silences = 0
    if (this.#workers.has(worker)) this.#metrics.set(worker, metrics)
    return true
  }

  /**
   * Fetches the metrics, which also shows whether worker processes answer. It counts checks instead
   * of time, so that a pause of this process blames no other.
   */
  #check(): void {
    for (const worker of this.#workers) {
      worker.silences += 1
      const { pid, isServing, silences } = worker
      if (silences <= (isServing ? MAX_SILENCES : MAX_STARTING_CHECKS)) continue
      const problem = isServing ? 'does not answer' : 'takes too long to start'
      this.#options.logger.error({ pid }, `worker process ${problem}: it is killed`)
      worker.kill()
    }
    void this.metrics()
  }

  /** Makes all worker processes hand over their buffered decisions. */
  async flush(): Promise<void> {
    await Promise.all(
      this.#serving().map((worker) => within(ANSWER_MS, worker.link.call('flush', undefined))),
    )
  }

  /** Stops all worker processes within the drain time. */
  async stop(drainMs: number): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#checks)
    for (const pause of this.#pauses) clearTimeout(pause)
    await Promise.all([...this.#workers].map((worker) => worker.stop(drainMs)))
  }

  #serving(): WorkerProcess[] {
    return [...this.#workers].filter(({ isServing }) => isServing)
  }

  /** Replaces the exceptions or the configuration in all worker processes. One that fails is replaced. */
  async send<K extends 'except' | 'follow'>(name: K, value: Parameters<WorkerCalls[K]>[0]): Promise<void> {
    const following = [...this.#workers].filter(({ hasPolicies }) => hasPolicies)
    await this.#callAll(following, name, value)
  }

  async #callAll<K extends 'load' | 'activate' | 'stage' | 'renewTls' | 'except' | 'follow'>(
    workers: readonly WorkerProcess[],
    name: K,
    argument: Parameters<WorkerCalls[K]>[0],
  ): Promise<void> {
    await Promise.all(
      workers.map(async (worker) => {
        const called = worker.link
          .call<'load' | 'activate' | 'stage' | 'renewTls' | 'except' | 'follow'>(name, argument as never)
          .then(() => true)
        if ((await within(LOAD_MS, called)) === undefined) worker.kill()
      }),
    )
  }

  #start(): void {
    const { callsFor, logger } = this.#options
    const child = this.#fork()
    if (child === undefined) return
    const { calls, ended } = callsFor()
    const worker = new WorkerProcess(child, calls)
    this.#workers.add(worker)
    worker.ended
      .then(async (reason) => {
        ended()
        await this.#ended(worker, reason)
      })
      .catch((raw: unknown) => logger.error({ error: String(raw) }, 'worker process not replaced'))
    this.#serve(worker).then(
      () => logger.info({ pid: worker.pid, missing: this.missing }, 'worker process serves'),
      (raw: unknown) => {
        if (!this.#isStopping) logger.error({ error: String(raw) }, 'worker process not started')
        worker.kill()
      },
    )
  }

  /**
   * Undefined if the machine lacks memory or another resource for a process now. It is tried again.
   */
  #fork(): ChildProcess | undefined {
    try {
      return this.#options.fork()
    } catch (raw) {
      this.#replace(toError(raw).message)
      return undefined
    }
  }

  async #serve(worker: WorkerProcess): Promise<void> {
    const { settings, policies, listeners } = this.#options
    const { latest } = policies
    if (latest === undefined) throw new AppError('internal', 'worker processes need policies')
    worker.reads = latest
    const given = settings()
    await worker.link.call('start', { settings: given, policies: latest })
    worker.hasPolicies = true
    // The configuration may have been reloaded during the start.
    const { config } = settings()
    if (config !== given.config) await worker.link.call('follow', config)
    await this.#catchUp(worker, latest)
    await worker.link.call('except', this.#options.exceptions())
    worker.reads = undefined
    if (this.#isStopping) return
    for (const [index, listener] of listeners.entries()) await worker.link.call('listen', index, listener)
    worker.silences = 0
    worker.isServing = true
  }

  /** Catches up with policies loaded during the start. Later loads include this worker process. */
  async #catchUp(worker: WorkerProcess, given: SentPolicies): Promise<void> {
    const { latest = given } = this.#options.policies
    if (latest.id !== given.id) {
      worker.reads = latest
      await worker.link.call('load', latest)
      await worker.link.call('activate', latest.id)
      // Otherwise it would use policies that the others do not serve yet.
      await this.#loading
    }
    // Later messages are based on it, even if its stage has ended.
    const { staged } = this.#options.policies
    if (staged === undefined) return
    worker.reads = staged
    await worker.link.call('load', staged)
    await worker.link.call('stage', this.#staged)
  }

  /** Keeps the counts of an ended worker process and starts another. */
  async #ended(worker: WorkerProcess, reason: string): Promise<void> {
    this.#workers.delete(worker)
    const last = this.#metrics.get(worker)
    this.#metrics.delete(worker)
    if (last !== undefined) this.#countsOfEnded = await sumCounts([this.#countsOfEnded, last])
    if (!this.#isStopping) this.#replace(reason)
  }

  /** Starts another worker process, with a delay if they end repeatedly. */
  #replace(reason: string): void {
    const now = performance.now()
    this.#deathTimes = [...this.#deathTimes.filter((atMs) => now - atMs < RECENT_MS), now]
    const recentCrashes = this.#deathTimes.length
    this.#options.died({ thread: NAME, reason, recentCrashes })
    const pause = setTimeout(
      () => {
        this.#pauses.delete(pause)
        this.#start()
      },
      recentCrashes <= this.#options.count
        ? 0
        : Math.min(FIRST_PAUSE_MS * 2 ** (recentCrashes - this.#options.count), MAX_PAUSE_MS),
    )
    this.#pauses.add(pause)
  }
}

/** The value of a promise. Undefined if it rejects or takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promise, late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
