import type { Worker } from 'node:worker_threads'
import { AppError, toAppError } from '../errors/app-error.js'
import { SupervisedThread } from '../lib/threads/supervised-thread.js'
import type { SupervisedThreadOptions } from '../lib/threads/supervised-thread.js'
import type { DecisionBatch } from './decision-batch.js'
import type { DecisionBatchWriter, WriteReceipt } from './keep-decisions.js'
import type { WriterAnswer, WriterRequest } from './writer-messages.js'

interface PendingWrite {
  readonly resolve: (receipt: WriteReceipt) => void
  readonly reject: (error: AppError) => void
}

/**
 * Writes batches in a thread of its own and starts another if it ends. Batches of an ended thread
 * are lost.
 */
export class WorkerBatchWriter implements DecisionBatchWriter {
  readonly #supervised: SupervisedThread
  #pending: PendingWrite[] = []
  #opened: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: SupervisedThreadOptions) {
    const { start } = options
    this.#supervised = new SupervisedThread({ ...options, start: () => this.#listenTo(start()) })
    this.#supervised.take()
  }

  opened(): Promise<void> {
    return this.#opened
  }

  write(batch: DecisionBatch): Promise<WriteReceipt> {
    if (this.#isClosed) return Promise.reject(stopped())
    return new Promise((resolve, reject) => {
      let thread: Worker
      try {
        thread = this.#supervised.take()
      } catch (raw) {
        reject(toAppError(raw))
        return
      }
      this.#pending.push({ resolve, reject })
      const request: WriterRequest = { type: 'write', batch }
      thread.postMessage(request, [batch.cells.buffer, batch.bytes.buffer])
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const thread = this.#supervised.release()
    if (thread === undefined) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    const request: WriterRequest = { type: 'close' }
    thread.postMessage(request)
    await ended
  }

  #listenTo(thread: Worker): Worker {
    this.#opened = new Promise((resolve, reject) => {
      thread.on('message', (answer: WriterAnswer) => {
        if (answer.type === 'ready') resolve()
        else if (answer.type === 'written') this.#pending.shift()?.resolve(answer.receipt)
        else {
          const error = new AppError(answer.kind, answer.message, { code: answer.code })
          if (answer.type === 'lost') this.#pending.shift()?.reject(error)
          else {
            // The thread ends itself after a refusal, which does not count as a crash.
            this.#supervised.release()
            this.#abandon(error)
            reject(error)
          }
        }
      })
      thread.once('error', (cause) => reject(stopped(cause)))
      thread.once('exit', () => {
        reject(stopped())
        const { current } = this.#supervised
        if (current === undefined || current === thread) this.#abandon(stopped())
      })
    })
    // A failed restart is reported by the writes that it loses.
    this.#opened.catch(() => undefined)
    return thread
  }

  #abandon(error: AppError): void {
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(error)
  }
}

function stopped(cause?: unknown): AppError {
  return new AppError('unavailable', 'write decisions: the writing thread has stopped', { cause })
}
