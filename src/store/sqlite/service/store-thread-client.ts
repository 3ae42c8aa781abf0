import type { Worker } from 'node:worker_threads'
import { AppError } from '../../../errors.js'
import type { PendingCall } from './batching-runner.js'
import { fromFailure } from './call.js'
import type { Outcome } from './call.js'
import type { StoreAnswer, StoreRequest } from './messages.js'

/** Sends batches to a thread of its own, one at a time. The thread starts with the first batch, and again when it died. */
export class StoreThreadClient {
  readonly #startThread: () => Worker
  #thread: Worker | undefined

  constructor(startThread: () => Worker) {
    this.#startThread = startThread
  }

  /** Rejects with an AppError when the thread refused to start or died before it answered. */
  execute(calls: readonly PendingCall[]): Promise<readonly Outcome[]> {
    const thread = this.#thread ?? this.#start()
    return new Promise((resolve, reject) => {
      const release = listen(thread, {
        message: (answer: StoreAnswer) => {
          release()
          if (answer.type === 'outcomes') resolve(answer.outcomes)
          else reject(fromFailure(answer.failure))
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
        calls: calls.map(({ operation, args }) => ({ operation, args })),
      }
      thread.postMessage(request)
    })
  }

  async close(): Promise<void> {
    const thread = this.#thread
    if (thread === undefined) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    const request: StoreRequest = { type: 'close' }
    thread.postMessage(request)
    await ended
  }

  #start(): Worker {
    const thread = this.#startThread()
    this.#thread = thread
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    // An error is followed by the exit; without a listener it would end the process.
    thread.on('error', () => undefined)
    return thread
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
