import { Worker } from 'node:worker_threads'
import type { DecisionBatch } from '../../decisions/decision-batch.js'
import { AppError } from '../../errors.js'
import type { BatchWriter, WriteReceipt } from '../decision-store.js'
import type { WriterAnswer, WriterRequest, WriterThreadOptions } from './decision-writer-messages.js'

interface PendingWrite {
  readonly resolve: (receipt: WriteReceipt) => void
  readonly reject: (error: AppError) => void
}

const RESTART_AFTER_MS = 1000
/** Batches live outside the heap: what the thread needs inside is little, and without a bound it would take more. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

/** Starts the writing thread and waits until its database is open; raises the AppError that it was refused with. */
export async function openWorkerBatchWriter(options: WriterThreadOptions): Promise<WorkerBatchWriter> {
  const writer = new WorkerBatchWriter(() => startThread(options))
  await writer.opened()
  return writer
}

function startThread(options: WriterThreadOptions): Worker {
  return new Worker(new URL('./decision-writer-worker.js', import.meta.url), {
    workerData: options,
    resourceLimits: THREAD_LIMITS,
  })
}

/** Hands batches to a thread of its own and starts another when that one dies; what it held is lost. */
export class WorkerBatchWriter implements BatchWriter {
  readonly #startThread: () => Worker
  #pending: PendingWrite[] = []
  #thread: Worker | undefined
  #opened: Promise<void> = Promise.resolve()
  #startedAt = 0

  constructor(start: () => Worker) {
    this.#startThread = start
    this.#start()
  }

  opened(): Promise<void> {
    return this.#opened
  }

  write(batch: DecisionBatch): Promise<WriteReceipt> {
    if (this.#thread === undefined && performance.now() - this.#startedAt >= RESTART_AFTER_MS) this.#start()
    const thread = this.#thread
    if (thread === undefined) return Promise.reject(stopped())
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject })
      const request: WriterRequest = { type: 'write', batch }
      thread.postMessage(request, [batch.cells.buffer, batch.bytes.buffer])
    })
  }

  async close(): Promise<void> {
    const thread = this.#thread
    if (thread === undefined) return
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    const request: WriterRequest = { type: 'close' }
    thread.postMessage(request)
    await ended
  }

  #start(): void {
    const thread = this.#startThread()
    this.#thread = thread
    this.#startedAt = performance.now()
    this.#opened = new Promise((resolve, reject) => {
      thread.on('message', (answer: WriterAnswer) => {
        if (answer.type === 'ready') resolve()
        else if (answer.type === 'refused') reject(new AppError(answer.kind, answer.message))
        else this.#settleOldest(answer)
      })
      thread.once('error', (cause) => reject(stopped(cause)))
      thread.once('exit', () => {
        reject(stopped())
        this.#abandon(thread)
      })
    })
    // A restart that fails is told through the writes that it loses.
    this.#opened.catch(() => undefined)
  }

  #settleOldest(answer: Extract<WriterAnswer, { type: 'written' | 'lost' | 'refused' }>): void {
    const oldest = this.#pending.shift()
    if (answer.type === 'written') oldest?.resolve(answer.receipt)
    else oldest?.reject(new AppError(answer.kind, answer.message))
  }

  #abandon(thread: Worker): void {
    if (this.#thread === thread) this.#thread = undefined
    const lost = this.#pending
    this.#pending = []
    for (const { reject } of lost) reject(stopped())
  }
}

function stopped(cause?: unknown): AppError {
  return new AppError('unavailable', 'write decisions: the writing thread has stopped', { cause })
}
