import { Worker } from 'node:worker_threads'
import type { ResourceLimits } from 'node:worker_threads'
import type { AppError } from '../../errors/app-error.js'

/** What a thread is given and what it is not allowed. Times are milliseconds. */
export interface ExpendableThreadOptions {
  readonly script: URL
  readonly resourceLimits: ResourceLimits
  /** A request that takes longer ends the thread. */
  readonly limitMs: number
  /** Without a request for so long, the thread gives its memory back. */
  readonly idleMs: number
  /** Requests that may wait for those before them. */
  readonly maxWaiting: number
  /** What a request is told that took too long, or ended the thread. */
  readonly overrun: () => AppError
  /** What a request is told when too many are waiting. */
  readonly crowded: () => AppError
}

interface Waiting<Request, Answer> {
  readonly request: Request
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: AppError) => void
}

/**
 * A thread for work that may never end: one request after the other, each within its time. A request that overruns it, or the memory
 * that the thread has, is told so, and costs nothing but the thread, in whose place the next request finds a new one.
 */
export class ExpendableThread<Request, Answer> {
  readonly #options: ExpendableThreadOptions
  readonly #waiting: Waiting<Request, Answer>[] = []
  #thread: Worker | undefined
  #current: Waiting<Request, Answer> | undefined
  /** Of the request under way, or of having none. */
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ExpendableThreadOptions) {
    this.#options = options
  }

  /** Raises what the options say for one request too many, and for one that overruns its limits. */
  ask(request: Request): Promise<Answer> {
    const { maxWaiting, crowded } = this.#options
    if (this.#isClosed || this.#waiting.length >= maxWaiting) return Promise.reject(crowded())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      this.#next()
    })
  }

  /** Ends the thread at once; what waits for it is refused. */
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
    // It must not keep a process alive that has nothing else to do.
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
