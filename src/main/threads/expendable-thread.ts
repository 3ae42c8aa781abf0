import { Worker } from 'node:worker_threads'
import type { ResourceLimits } from 'node:worker_threads'
import type { AppError } from '../../errors/app-error.js'

/** Script and limits of a thread. Times are in milliseconds. */
export interface ExpendableThreadOptions {
  readonly script: URL
  readonly resourceLimits: ResourceLimits
  /** Time limit of a request. A longer one ends the thread. */
  readonly limitMs: number
  /** Without a request for this long the thread ends and frees its memory. */
  readonly idleMs: number
  /** Number of requests that may wait. */
  readonly maxWaiting: number
  /** The error of a request that took too long or ended the thread. */
  readonly overrun: () => AppError
  /** The error of a request when too many are waiting. */
  readonly crowded: () => AppError
}

interface Waiting<Request, Answer> {
  readonly request: Request
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: AppError) => void
}

/**
 * A thread for work that may never end: one request at a time, each with a time limit. A request
 * that exceeds the time or memory limit fails and ends the thread. The next request starts a new
 * one.
 */
export class ExpendableThread<Request, Answer> {
  readonly #options: ExpendableThreadOptions
  readonly #waiting: Waiting<Request, Answer>[] = []
  #thread: Worker | undefined
  #current: Waiting<Request, Answer> | undefined
  /** Timer of the current request, or of the idle thread. */
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ExpendableThreadOptions) {
    this.#options = options
  }

  /** Runs a request. Throws `crowded` if too many wait, `overrun` if it exceeds its limits. */
  run(request: Request): Promise<Answer> {
    const { maxWaiting, crowded } = this.#options
    if (this.#isClosed || this.#waiting.length >= maxWaiting) return Promise.reject(crowded())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#next()
    })
  }

  /** Ends the thread immediately and refuses waiting requests. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { crowded } = this.#options
    for (const { reject } of this.#waiting.splice(0)) reject(crowded())
    this.#current?.reject(crowded())
    this.#current = undefined
    await this.#end()
  }

  #next(): void {
    if (this.#current !== undefined) return
    clearTimeout(this.#timer)
    this.#current = this.#waiting.shift()
    const { limitMs, idleMs } = this.#options
    if (this.#current === undefined) {
      this.#timer = setTimeout(() => void this.#end(), idleMs).unref()
      return
    }
    this.#timer = setTimeout(() => this.#overrun(), limitMs)
    this.#thread ??= this.#start()
    this.#thread.postMessage(this.#current.request)
  }

  #start(): Worker {
    const { script, resourceLimits } = this.#options
    const thread = new Worker(script, { resourceLimits })
    thread.on('message', (answer: Answer) => {
      const current = this.#current
      this.#current = undefined
      current?.resolve(answer)
      this.#next()
    })
    const lost = (): void => {
      if (this.#thread === thread) this.#overrun()
    }
    thread.on('error', lost)
    thread.on('exit', lost)
    // The thread must not keep the process alive.
    thread.unref()
    return thread
  }

  #overrun(): void {
    const current = this.#current
    this.#current = undefined
    void this.#end()
    current?.reject(this.#options.overrun())
    if (!this.#isClosed) this.#next()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }
}
