import type { Worker } from 'node:worker_threads'
import { AppError } from '../../errors/app-error.js'
import { SupervisedThread } from '../../lib/threads/supervised-thread.js'
import type { SupervisedThreadOptions } from '../../lib/threads/supervised-thread.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Call, Outcome, StoreAnswer, StoreRequest } from './call.js'

export interface StoreThreadClientOptions extends SupervisedThreadOptions {
  /** A thread that was given nothing to do for so long is ended; without it the thread stays. */
  readonly idleMs?: number | undefined
}

/**
 * Sends batches to a thread of its own, one at a time. The thread starts with the first batch, and again when it died or was let go
 * for having had nothing to do. Of a batch that it died with it is not known whether it was committed.
 */
export class StoreThreadClient {
  readonly #thread: SupervisedThread
  readonly #idleMs: number | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #ending: Promise<unknown> = Promise.resolve()

  constructor({ idleMs, ...options }: StoreThreadClientOptions) {
    this.#thread = new SupervisedThread(options)
    this.#idleMs = idleMs
  }

  /** Why the thread cannot be relied on; undefined while it can. */
  get problem(): string | undefined {
    return this.#thread.problem
  }

  /** Rejects with an AppError when the thread refused to start or died before it answered. */
  async execute(calls: readonly Call[]): Promise<readonly Outcome[]> {
    clearTimeout(this.#idleTimer)
    try {
      return await this.#send(this.#thread.take(), calls)
    } finally {
      if (this.#idleMs !== undefined) this.#idleTimer = setTimeout(() => this.#end(), this.#idleMs).unref()
    }
  }

  /** Lets the thread finish what it was given; once `givenUp` is aborted, it is ended within it. */
  async close(givenUp?: AbortSignal): Promise<void> {
    clearTimeout(this.#idleTimer)
    const thread = this.#thread.current
    const terminate = (): void => void thread?.terminate()
    this.#end()
    if (givenUp?.aborted === true) terminate()
    givenUp?.addEventListener('abort', terminate)
    await this.#ending
    givenUp?.removeEventListener('abort', terminate)
  }

  #send(thread: Worker, calls: readonly Call[]): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const release = listen(thread, {
        message: (answer: StoreAnswer) => {
          release()
          if (answer.type === 'outcomes') resolve(answer.outcomes)
          else {
            // It ends after that by itself, and says why: no death.
            this.#thread.release()
            reject(fromFailure(answer.failure))
          }
        },
        error: (cause: unknown) => {
          release()
          reject(new AppError('unavailable', 'a thread of the store has failed; try again', { cause }))
        },
        exit: () => {
          release()
          reject(new AppError('unavailable', 'a thread of the store has stopped; try again'))
        },
      })
      const request: StoreRequest = {
        type: 'calls',
        calls,
      }
      thread.postMessage(request)
    })
  }

  #end(): void {
    const thread = this.#thread.release()
    if (thread === undefined) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    this.#ending = Promise.all([this.#ending, ended])
    const request: StoreRequest = { type: 'close' }
    thread.postMessage(request)
  }
}

function listen(
  thread: Worker,
  listeners: Readonly<Record<'message' | 'error' | 'exit', (value: never) => void>>,
): () => void {
  const entries = Object.entries(listeners) as [string, (value: unknown) => void][]
  for (const [event, listener] of entries) thread.on(event, listener)
  return () => {
    for (const [event, listener] of entries) thread.off(event, listener)
  }
}
