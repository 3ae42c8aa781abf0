import { Worker } from 'node:worker_threads'
import { AppError } from '../../errors/app-error.js'
import { fromFailure } from '../../lib/threads/failure.js'
import { SupervisedThread } from '../../lib/threads/supervised-thread.js'
import type { SupervisedThreadOptions, ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { FindOperation } from '../ports/operation.js'
import type { Readers } from '../ports/readers.js'
import type { Transaction } from '../ports/transaction.js'
import type { Call, CallConnection, Outcome, StoreAnswer, StoreRequest, ThreadRole } from './call.js'

/** Runs batches of calls, on this thread or on another one. */
export interface Executor extends CallConnection {
  readonly problem?: string | undefined
  /** Finishes the calls under way. Once the signal is aborted, ends them. */
  readonly close: (abandoned?: AbortSignal) => Promise<void>
}

/** The operations that can run in a store. */
export interface StoreOperations<Writing extends Transaction = Transaction> {
  readonly reads: FindOperation<Readers>
  readonly writes: FindOperation<Writing>
}

/** How a thread of a store is started. */
export interface StoreThread {
  readonly script: URL
  /** The data that the script is started with. */
  readonly options: { readonly role: ThreadRole }
  /** The store's name in messages: `tidegate.db`. */
  readonly store: string
  /** Called when the thread ended unexpectedly. */
  readonly died: ((death: ThreadDeath) => void) | undefined
}

/**
 * Idle time after which a reading thread ends, which frees about 30 MB. Searches are rare and come
 * in groups.
 */
const READING_IDLE_MS = 60_000
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

/** Returns an executor that runs calls in a thread of its own. */
export function threadExecutor({ script, options, store, died }: StoreThread): Executor {
  const isReading = options.role === 'read'
  return new ThreadExecutor({
    name: `the thread that ${isReading ? 'reads' : 'writes'} ${store}`,
    start: () => new Worker(script, { workerData: options, resourceLimits: THREAD_LIMITS }),
    died,
    idleMs: isReading ? READING_IDLE_MS : undefined,
  })
}

export interface ThreadExecutorOptions extends SupervisedThreadOptions {
  /** Idle time after which the thread is ended, in milliseconds. Absent if it is never ended. */
  readonly idleMs?: number | undefined
}

/**
 * Sends batches to a thread of its own, one at a time. The thread starts with the first batch, and
 * again after it crashed or was ended for being idle. If it crashes during a batch, it is unknown
 * whether the batch was committed.
 */
export class ThreadExecutor implements Executor {
  readonly #thread: SupervisedThread
  readonly #idleMs: number | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #ending: Promise<unknown> = Promise.resolve()

  constructor({ idleMs, ...options }: ThreadExecutorOptions) {
    this.#thread = new SupervisedThread(options)
    this.#idleMs = idleMs
  }

  /** Why the thread cannot be relied on; undefined while it can. */
  get problem(): string | undefined {
    return this.#thread.problem
  }

  /** Rejects with an AppError if the thread refuses to start or ends before it answers. */
  async execute(calls: readonly Call[]): Promise<readonly Outcome[]> {
    clearTimeout(this.#idleTimer)
    try {
      const thread = this.#thread.take()
      const answered = this.#nextAnswer(thread)
      thread.postMessage({ type: 'calls', calls } satisfies StoreRequest)
      return await answered
    } finally {
      if (this.#idleMs !== undefined) this.#idleTimer = setTimeout(() => this.#end(), this.#idleMs).unref()
    }
  }

  /**
   * Waits until the thread has finished its batch. Once `abandoned` is aborted, the thread is ended
   * within the batch.
   */
  async close(abandoned?: AbortSignal): Promise<void> {
    clearTimeout(this.#idleTimer)
    const thread = this.#thread.current
    const terminate = (): void => void thread?.terminate()
    this.#end()
    if (abandoned?.aborted === true) terminate()
    abandoned?.addEventListener('abort', terminate)
    await this.#ending
    abandoned?.removeEventListener('abort', terminate)
  }

  #nextAnswer(thread: Worker): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const release = listen(thread, {
        message: (answer: StoreAnswer) => {
          release()
          if (answer.type === 'outcomes') resolve(answer.outcomes)
          else {
            // The thread ends itself after a refusal, which does not count as a crash.
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
    })
  }

  #end(): void {
    const thread = this.#thread.release()
    if (thread === undefined) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    this.#ending = Promise.all([this.#ending, ended])
    thread.postMessage({ type: 'close' } satisfies StoreRequest)
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
