import { AppError } from '../../errors/app-error.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Answered, SlowRequest } from './messages.js'
import { SlowRunner } from './slow-runner.js'
import type { SlowRunnerOptions } from './slow-runner.js'

const MS_PER_SECOND = 1000
const CALLER_GONE = 'the caller went away'

/** Settings of the slow threads. */
export interface SlowSettings {
  readonly threads: number
  readonly queueLength: number
  readonly queueBytes: number
  /** Longest wait of a question for a thread, in milliseconds. */
  readonly maxWaitMs: number
  /** Time before an idle thread is terminated, in milliseconds. */
  readonly idleMs: number
}

/**
 * The outcome of a question: the policy's answer or error, terminated, or refused because the queue
 * is full, the wait was too long or the client has gone.
 */
export type SlowEnd = 'answered' | 'failed' | 'killed' | 'full' | 'late' | 'gone'

export interface SlowOptions extends SlowRunnerOptions {
  readonly settings: SlowSettings
  /** Receives the outcome of each question and its queue time in milliseconds. */
  readonly ended: (how: SlowEnd, waitedMs: number) => void
}

export interface SlowQuestion {
  /** Questions with the same key share a turn. */
  readonly key: string
  readonly snapshot: Snapshot
  readonly request: SlowRequest
}

/** An accepted question. */
export interface SlowTicket {
  readonly answer: Promise<Answered>
  /**
   * Cancels a question: a queued one is dropped, a running one is terminated when another waits.
   */
  readonly drop: () => void
}

interface Job extends SlowQuestion {
  readonly bytes: number
  readonly sinceMs: number
  readonly done: (answered: Answered) => void
  readonly failed: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
  isUnwanted: boolean
}

/** A few threads for long evaluations, with a bounded queue. */
export class SlowEvaluations {
  readonly #options: SlowOptions
  readonly #queue: FairQueue<Job>
  readonly #busy = new Map<SlowRunner, Job>()
  readonly #idle = new Map<SlowRunner, NodeJS.Timeout>()
  #isStopped = false

  constructor(options: SlowOptions) {
    this.#options = options
    const { queueLength: maxItems, queueBytes: maxBytes } = options.settings
    this.#queue = new FairQueue({ maxItems, maxBytes })
  }

  /** How many questions wait. */
  get queued(): number {
    return this.#queue.length
  }

  /** Number of running evaluations. */
  get running(): number {
    return this.#busy.size
  }

  /** True if a question would start immediately. */
  get isFree(): boolean {
    return this.#busy.size < this.#options.settings.threads
  }

  /**
   * Evaluates a question with the full budget of the limits. Rejects with `unavailable` if the
   * queue is full or no thread is free in time; otherwise as the use case.
   */
  submit(question: SlowQuestion): SlowTicket {
    let drop = (): void => undefined
    const answer = new Promise<Answered>((done, failed) => {
      const bytes = question.request.input?.length ?? 0
      const job: Job = {
        ...question,
        bytes,
        sinceMs: performance.now(),
        done,
        failed,
        timer: undefined,
        isUnwanted: false,
      }
      drop = () => {
        job.isUnwanted = true
        if (this.#queue.remove(job)) this.#refuse(job, 'gone', CALLER_GONE)
        else this.#makeWay()
      }
      this.#take(job)
    })
    return { answer, drop }
  }

  /** Rejects queued questions and terminates the threads. */
  stop(): void {
    this.#isStopped = true
    for (const job of this.#queue.clear()) this.#refuse(job, 'full', 'the service is stopping')
    for (const runner of this.#busy.keys()) runner.kill(() => unavailable('the service is stopping'))
    for (const runner of this.#idle.keys()) this.#endIdle(runner)
  }

  #take(job: Job): void {
    if (this.#isStopped) this.#refuse(job, 'full', 'the service is stopping')
    else if (this.isFree) this.#run(job)
    else {
      for (const displaced of this.#queue.add(job)) {
        this.#refuse(displaced, 'full', 'too many evaluations that take long are waiting')
        if (displaced === job) return
      }
      job.timer = setTimeout(() => {
        if (this.#queue.remove(job)) this.#refuse(job, 'late', 'no thread was free for it in time')
      }, this.#options.settings.maxWaitMs)
      this.#makeWay()
    }
  }

  /** Terminates a cancelled evaluation if another question waits for its thread. */
  #makeWay(): void {
    if (this.#queue.length === 0) return
    for (const [runner, { isUnwanted }] of this.#busy) {
      if (!isUnwanted || runner.isDead) continue
      runner.kill(() => unavailable(CALLER_GONE))
      return
    }
  }

  #refuse(job: Job, how: SlowEnd, why: string): void {
    clearTimeout(job.timer)
    this.#options.ended(how, performance.now() - job.sinceMs)
    // By then every queued question has been started or refused.
    job.failed(unavailable(why, Math.ceil(this.#options.settings.maxWaitMs / MS_PER_SECOND)))
  }

  #run(job: Job): void {
    clearTimeout(job.timer)
    const waitedMs = performance.now() - job.sinceMs
    const runner = this.#takeRunner()
    this.#busy.set(runner, job)
    runner.evaluate(job.snapshot, job.request).then(
      (answer) => {
        this.#release(runner, job.snapshot)
        this.#options.ended('answered', waitedMs)
        job.done(answer)
      },
      (error: unknown) => {
        this.#release(runner, job.snapshot)
        this.#options.ended(runner.isDead ? (job.isUnwanted ? 'gone' : 'killed') : 'failed', waitedMs)
        job.failed(error)
      },
    )
  }

  #takeRunner(): SlowRunner {
    for (const [runner, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(runner)
      if (!runner.isDead) return runner
    }
    return new SlowRunner(this.#options)
  }

  /**
   * Assigns queued questions to a thread or its replacement, and keeps an idle thread for a while.
   */
  #release(runner: SlowRunner, snapshot: Snapshot): void {
    this.#busy.delete(runner)
    if (this.#isStopped) {
      if (!runner.isDead) runner.kill(() => unavailable('the service is stopping'))
      return
    }
    const successor = runner.isDead ? new SlowRunner(this.#options) : runner
    // The next question then need not wait for a thread to start.
    if (successor !== runner) successor.prepare(snapshot)
    this.#idle.set(
      successor,
      setTimeout(() => this.#endIdle(successor), this.#options.settings.idleMs).unref(),
    )
    const next = this.isFree ? this.#queue.take() : undefined
    if (next !== undefined) this.#run(next)
  }

  #endIdle(runner: SlowRunner): void {
    clearTimeout(this.#idle.get(runner))
    this.#idle.delete(runner)
    runner.kill(() => unavailable('the service is stopping'))
  }
}

function unavailable(why: string, retryAfterSeconds = 1): AppError {
  return new AppError('unavailable', `the policy was not evaluated: ${why}. Retry later.`, {
    code: 'evaluation_unavailable',
    retryAfterSeconds,
  })
}

/** A queued item with its key. */
interface Waiting {
  /** Items with the same key share one turn. */
  readonly key: string
  readonly bytes: number
}

interface QueueBounds {
  readonly maxItems: number
  readonly maxBytes: number
}

/**
 * A bounded queue that is fair to keys: keys take turns, and if it is full, the key with the most
 * items drops one for a key with fewer.
 */
export class FairQueue<Item extends Waiting> {
  readonly #bounds: QueueBounds
  /** In the order of turns. */
  readonly #byKey = new Map<string, Item[]>()
  #length = 0
  #bytes = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  get length(): number {
    return this.#length
  }

  /** Adds an item to its key's queue. Returns the dropped items: older ones, or this one. */
  add(item: Item): Item[] {
    const displaced: Item[] = []
    while (!this.#fits(item)) {
      const longest = this.#longest()
      const last = longest.at(-1)
      if (last === undefined || longest.length <= this.#countOf(item.key) + 1) return [...displaced, item]
      this.remove(last)
      displaced.push(last)
    }
    const line = this.#byKey.get(item.key)
    if (line === undefined) this.#byKey.set(item.key, [item])
    else line.push(item)
    this.#length += 1
    this.#bytes += item.bytes
    return displaced
  }

  /** Removes and returns the next item. Its key then waits for the turns of all others. */
  take(): Item | undefined {
    const [next] = this.#byKey
    if (next === undefined) return undefined
    const [key, line] = next
    const [item] = line
    if (item === undefined) return undefined
    this.#byKey.delete(key)
    this.#byKey.set(key, line)
    this.remove(item)
    return item
  }

  /** Removes an item; false if it is not queued. */
  remove(item: Item): boolean {
    const line = this.#byKey.get(item.key)
    const place = line?.indexOf(item) ?? -1
    if (line === undefined || place < 0) return false
    line.splice(place, 1)
    if (line.length === 0) this.#byKey.delete(item.key)
    this.#length -= 1
    this.#bytes -= item.bytes
    return true
  }

  /** Removes and returns all items. */
  clear(): Item[] {
    const items = [...this.#byKey.values()].flat()
    this.#byKey.clear()
    this.#length = 0
    this.#bytes = 0
    return items
  }

  #fits({ bytes }: Item): boolean {
    const { maxItems, maxBytes } = this.#bounds
    // A single item may have any size.
    return this.#length < maxItems && (this.#length === 0 || this.#bytes + bytes <= maxBytes)
  }

  #countOf(key: string): number {
    return this.#byKey.get(key)?.length ?? 0
  }

  #longest(): readonly Item[] {
    let longest: readonly Item[] = []
    for (const line of this.#byKey.values()) {
      if (line.length > longest.length) longest = line
    }
    return longest
  }
}
