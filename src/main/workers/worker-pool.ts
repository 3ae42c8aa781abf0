import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:net'

import { AppError, toError } from '../../errors/app-error.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import type { Logger } from '../../lib/logger.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { Snapshot } from '../../rego/index.js'
import type { PolicySender } from './sent-policies.js'
import { sumCounts } from './sum-figures.js'
import type { Figures } from './sum-figures.js'
import type { MainCalls, SentPolicies, WorkerCalls, WorkerSettings } from './worker-calls.js'
import { ProcessLink, channelToChild } from '../../lib/processes/process-link.js'

/** The longest that workers may take to get policies ready, in milliseconds. */
const LOAD_MS = 60_000
/** For an answer that takes a worker no time, in milliseconds. */
const ANSWER_MS = 1000
/** The same for one that was late the last time: whoever asks for figures is not kept by it again and again. */
const LATE_ANSWER_MS = 100
const FIGURES_MS = 5000
/** Looks without an answer until a worker counts as one that takes no requests, and until it is ended: it may be stopped, or stand still. */
const [SILENT, TOO_SILENT] = [2, 6]
/** Looks until one that does not yet take requests is ended: two minutes, in which hundreds of megabytes of data are read on a slow machine, too. */
const TOO_LONG_STARTING = 24
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
const RECENT_MS = 300_000
const NAME = 'a worker'

export interface WorkerPoolOptions {
  /** How many there are beside the main process. */
  readonly count: number
  readonly fork: () => ChildProcess
  /** As they are now. */
  readonly settings: () => WorkerSettings
  readonly policies: PolicySender
  /** What one worker may ask; `ended` is called when it is no more. */
  readonly callsFor: () => { readonly calls: MainCalls; readonly ended: () => void }
  /** In the order of the addresses of the settings. */
  readonly listeners: readonly Server[]
  readonly logger: Logger
  readonly died: (death: ThreadDeath) => void
}

/** The processes that decide beside the main one: one that ends is replaced. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers = new Set<Worker>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  readonly #figures = new Map<Worker, Figures>()
  #countsOfEnded: Figures = []
  #deathTimes: number[] = []
  #isStopping = false
  #loading: Promise<void> = Promise.resolve()
  readonly #asking: NodeJS.Timeout

  /** Starts them; they take requests as soon as they are ready. */
  constructor(options: WorkerPoolOptions) {
    this.#options = options
    for (let started = 0; started < options.count; started += 1) this.#start()
    // What a worker has counted must outlive it.
    this.#asking = setInterval(() => this.#look(), FIGURES_MS).unref()
  }

  /** Workers that should take requests and do not yet. */
  get missing(): number {
    return this.#options.count - this.#serving().filter(({ silences }) => silences < SILENT).length
  }

  /**
   * Has all workers get policies ready, and serve them once all have; one that cannot is replaced. Those that have none yet are not waited for: they
   * get the latest before they take requests.
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
    await this.#askAll(following, 'load', sent)
    await this.#askAll(following, 'activate', sent.id)
    await policies.forgetOlder([...this.#workers].flatMap(({ reads }) => reads ?? []))
  }

  /** Has new connections of all workers use another certificate. */
  async renewTls(settings: TlsSettings): Promise<void> {
    await this.#askAll([...this.#workers], 'renewTls', settings)
  }

  /** The figures of all workers, those that have ended included; of one that does not answer in time, the last that it gave. */
  async figures(): Promise<readonly Figures[]> {
    await Promise.all(
      this.#serving().map(async (worker) => {
        const asked = this.#askFigures(worker)
        worker.isLate = (await within(worker.isLate ? LATE_ANSWER_MS : ANSWER_MS, asked)) === undefined
      }),
    )
    return [this.#countsOfEnded, ...this.#figures.values()]
  }

  /** What comes too late for who has asked is there for the next. */
  async #askFigures(worker: Worker): Promise<true> {
    const figures = await worker.link.call('figures', undefined)
    worker.silences = 0
    worker.isLate = false
    if (this.#workers.has(worker)) this.#figures.set(worker, figures)
    return true
  }

  /** Asks for the figures, which tells whether workers answer at all. Counting looks and not time, a process that stood still itself blames no other. */
  #look(): void {
    for (const worker of this.#workers) {
      worker.silences += 1
      const { pid, isServing, silences } = worker
      if (silences <= (isServing ? TOO_SILENT : TOO_LONG_STARTING)) continue
      const what = isServing ? 'a worker does not answer' : 'a worker takes too long to start'
      this.#options.logger.error({ pid }, `${what}: it is ended`)
      worker.kill()
    }
    void this.figures()
  }

  /** Has all workers hand over the decisions that they hold. */
  async flush(): Promise<void> {
    await Promise.all(
      this.#serving().map((worker) => within(ANSWER_MS, worker.link.call('flush', undefined))),
    )
  }

  /** Ends all of them, with what they are at, if it ends in time. */
  async stop(drainMs: number): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#asking)
    for (const pause of this.#pauses) clearTimeout(pause)
    await Promise.all([...this.#workers].map((worker) => worker.stop(drainMs)))
  }

  #serving(): Worker[] {
    return [...this.#workers].filter(({ isServing }) => isServing)
  }

  async #askAll<K extends 'load' | 'activate' | 'renewTls'>(
    workers: readonly Worker[],
    name: K,
    argument: Parameters<WorkerCalls[K]>[0],
  ): Promise<void> {
    await Promise.all(
      workers.map(async (worker) => {
        const asked = worker.link
          .call<'load' | 'activate' | 'renewTls'>(name, argument as never)
          .then(() => true)
        if ((await within(LOAD_MS, asked)) === undefined) worker.kill()
      }),
    )
  }

  #start(): void {
    const { callsFor, logger } = this.#options
    const child = this.#fork()
    if (child === undefined) return
    const { calls, ended } = callsFor()
    const worker = new Worker(child, calls)
    this.#workers.add(worker)
    worker.ended
      .then(async (reason) => {
        ended()
        await this.#ended(worker, reason)
      })
      .catch((raw: unknown) => logger.error({ error: String(raw) }, 'a worker could not be replaced'))
    this.#serve(worker).then(
      () => logger.info({ pid: worker.pid, missing: this.missing }, 'a worker serves'),
      (raw: unknown) => {
        if (!this.#isStopping) logger.error({ error: String(raw) }, 'a worker could not start')
        worker.kill()
      },
    )
  }

  /** Undefined where the machine has no room for another process now, such as memory: it is tried again. */
  #fork(): ChildProcess | undefined {
    try {
      return this.#options.fork()
    } catch (raw) {
      this.#replace(toError(raw).message)
      return undefined
    }
  }

  async #serve(worker: Worker): Promise<void> {
    const { settings, policies, listeners } = this.#options
    const { latest } = policies
    if (latest === undefined) throw new AppError('internal', 'workers need policies')
    worker.reads = latest
    await worker.link.call('start', { settings: settings(), policies: latest })
    worker.hasPolicies = true
    await this.#catchUp(worker, latest)
    worker.reads = undefined
    if (this.#isStopping) return
    for (const [place, listener] of listeners.entries()) await worker.link.call('listen', place, listener)
    worker.silences = 0
    worker.isServing = true
  }

  /** A save did not wait for a worker that had no policies yet; from now on all do, and it is asked in their order. */
  async #catchUp(worker: Worker, given: SentPolicies): Promise<void> {
    const { latest = given } = this.#options.policies
    if (latest.id === given.id) return
    worker.reads = latest
    await worker.link.call('load', latest)
    await worker.link.call('activate', latest.id)
    // It would answer by policies that the others do not serve yet.
    await this.#loading
  }

  /** What it had counted is kept, and another takes its place. */
  async #ended(worker: Worker, reason: string): Promise<void> {
    this.#workers.delete(worker)
    const last = this.#figures.get(worker)
    this.#figures.delete(worker)
    if (last !== undefined) this.#countsOfEnded = await sumCounts([this.#countsOfEnded, last])
    if (!this.#isStopping) this.#replace(reason)
  }

  /** Starts another, after a while where they keep ending. */
  #replace(reason: string): void {
    const now = performance.now()
    this.#deathTimes = [...this.#deathTimes.filter((atMs) => now - atMs < RECENT_MS), now]
    const recent = this.#deathTimes.length
    this.#options.died({ thread: NAME, reason, recent })
    const pause = setTimeout(
      () => {
        this.#pauses.delete(pause)
        this.#start()
      },
      recent <= this.#options.count
        ? 0
        : Math.min(FIRST_PAUSE_MS * 2 ** (recent - this.#options.count), LONGEST_PAUSE_MS),
    )
    this.#pauses.add(pause)
  }
}

/** The value of a promise, or undefined where it fails or takes longer. */
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

/** Beside the time that requests are given to end. */
const LAST_WORDS_MS = 5000

/** One process that decides beside the main one. */
export class Worker {
  readonly link: ProcessLink<WorkerCalls>
  /** Whether it takes requests. */
  isServing = false
  /** Whether it has policies, so that a save must reach it. */
  hasPolicies = false
  /** The policies that it is sent while it starts: their file must stay. */
  reads: SentPolicies | undefined
  /** How many times in a row it was looked at and had not answered since the time before. */
  silences = 0
  /** Whether it kept whoever last asked for its figures waiting in vain. */
  isLate = false
  /** Why it ended: a signal, an exit code or an error. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess

  constructor(child: ChildProcess, main: MainCalls) {
    this.#child = child
    this.link = new ProcessLink<WorkerCalls>(channelToChild(child), main)
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 0}`))
      child.once('error', ({ message }) => resolve(message))
    })
    void this.ended.then(() => this.link.close())
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Lets it answer what runs, and hand over what it holds; one that takes too long is killed. */
  async stop(drainMs: number): Promise<void> {
    const overdue = setTimeout(() => this.kill(), drainMs + LAST_WORDS_MS)
    try {
      if (this.isServing) await this.link.call('stop', drainMs)
      else this.kill()
    } catch {
      // It has ended.
    }
    // The end of the channel is for it the sign to go.
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
    clearTimeout(overdue)
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
