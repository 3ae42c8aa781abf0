import { AppError } from '../../errors/app-error.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Operation, Runner } from '../ports/operation.js'
import type { Call, Outcome } from './call.js'

interface Waiting {
  readonly call: Call
  readonly bytes: number
  readonly resolve: (result: never) => void
  readonly reject: (error: AppError) => void
}

/**
 * Runs a batch. Returns one outcome for each call, in order, and rejects if none of the calls was
 * run.
 */
export type ExecuteBatch = (calls: readonly Call[]) => Promise<readonly Outcome[]>

/** Learns the outcome of each call. */
export interface CallWatch {
  readonly succeeded: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Highest size of the arguments of one call. A thread of the store has a heap of 256 MB, an
 * operation copies its arguments several times, and a thread that outgrows its heap within one
 * native function ends the whole process.
 */
const MAX_CALL_HEAP_BYTES = 24 * 1024 * 1024
const MAX_CALL_EXTERNAL_BYTES = 256 * 1024 * 1024
/** Highest size of a batch. A larger call forms a batch alone. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024
/**
 * Highest number of waiting calls. With more calls or bytes waiting, further ones are refused: they
 * would wait for seconds.
 */
export const MAX_WAITING = 4000
const MAX_WAITING_BYTES = 256 * 1024 * 1024

/**
 * Gathers the calls that arrive during a batch into the next one: the higher the load, the fewer
 * the commits. A call of a background operation runs alone, after the other calls or after every
 * batch, so that others wait for at most one of them.
 */
export class BatchingRunner implements Runner<never> {
  readonly #execute: ExecuteBatch
  readonly #maxBatch: number
  readonly #watch: CallWatch | undefined
  #waiting: Waiting[] = []
  readonly #yielding: Waiting[] = []
  #hasPassed = false
  #waitingBytes = 0
  #running: Promise<void> | undefined

  constructor(execute: ExecuteBatch, maxBatch: number, watch?: CallWatch) {
    this.#execute = execute
    this.#maxBatch = maxBatch
    this.#watch = watch
  }

  /**
   * Rejects with `too_large` if another thread could not hold the arguments, and with `unavailable`
   * if too many calls are waiting.
   */
  run<Args, Result>(
    operation: Operation<never, Args, Result>,
    args: Args,
    traceparent?: string,
  ): Promise<Result> {
    const { heapBytes, externalBytes } = sizeOfArguments(args)
    if (heapBytes > MAX_CALL_HEAP_BYTES || externalBytes > MAX_CALL_EXTERNAL_BYTES) {
      return Promise.reject(tooLarge(operation.name, heapBytes + externalBytes))
    }
    const bytes = heapBytes + externalBytes
    if (this.#isFull(bytes)) return Promise.reject(tooManyWaiting())
    this.#waitingBytes += bytes
    return new Promise((resolve, reject) => {
      const { name, isBackground = false, repeats = false } = operation
      const line = isBackground ? this.#yielding : this.#waiting
      line.push({ call: { operation: name, args, repeats, traceparent }, bytes, resolve, reject })
      this.#running ??= this.#runAll()
    })
  }

  /** Resolves when no call is waiting. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #runAll(): Promise<void> {
    // Calls of one turn of the event loop share a batch.
    await Promise.resolve()
    while (this.#waiting.length + this.#yielding.length > 0) {
      const batch = this.#nextBatch()
      this.#waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0)
      try {
        const outcomes = await this.#execute(batch.map(({ call }) => call))
        batch.forEach((waiting, index) => this.#settle(waiting, outcomes[index]))
      } catch (cause) {
        for (const { reject } of batch) this.#fail(reject, toUnavailable(cause))
      }
    }
    this.#running = undefined
  }

  #settle({ resolve, reject }: Waiting, outcome: Outcome | undefined): void {
    if (outcome === undefined) this.#fail(reject, toUnavailable(undefined))
    else if (outcome.ok) {
      this.#watch?.succeeded()
      resolve(outcome.result as never)
    } else this.#fail(reject, fromFailure(outcome.failure))
  }

  #fail(reject: (error: AppError) => void, error: AppError): void {
    this.#watch?.failed(error)
    reject(error)
  }

  #nextBatch(): Waiting[] {
    const yields = this.#yielding.length > 0 && (this.#hasPassed || this.#waiting.length === 0)
    this.#hasPassed = !yields && this.#yielding.length > 0
    return yields ? this.#yielding.splice(0, 1) : this.#waiting.splice(0, this.#batchLength())
  }

  /** Whether the queue is full. An empty queue accepts a call of any size. */
  #isFull(bytes: number): boolean {
    const count = this.#waiting.length + this.#yielding.length
    return count >= MAX_WAITING || (count > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES)
  }

  /** Number of waiting calls in the next batch: at least one, and no more than fit together. */
  #batchLength(): number {
    let [length, bytes] = [0, 0]
    for (const waiting of this.#waiting) {
      bytes += waiting.bytes
      if (length === this.#maxBatch || (length > 0 && bytes > MAX_BATCH_BYTES)) break
      length += 1
    }
    return length
  }
}

function tooManyWaiting(): AppError {
  return new AppError('unavailable', 'too many requests are waiting for the store; try again')
}

function tooLarge(operation: string, bytes: number): AppError {
  const megabytes = Math.ceil(bytes / (1024 * 1024))
  return new AppError(
    'too_large',
    `${operation}: ${megabytes} MB is too much for one write: write less, or in parts`,
  )
}

function toUnavailable(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('unavailable', 'the store has stopped; try again', { cause })
}

/** Memory that a value takes in another thread. */
interface TransferSize {
  /** Approximate size on the heap: text, and the overhead of each value. */
  readonly heapBytes: number
  /** Size outside of the heap: byte arrays. */
  readonly externalBytes: number
}

const BYTES_PER_VALUE = 16

/**
 * Measures plain values (numbers, text, bytes, lists, objects) without recursion and without
 * copying them.
 */
function sizeOfArguments(args: unknown): TransferSize {
  let [heapBytes, externalBytes] = [0, 0]
  const left: unknown[] = [args]
  while (left.length > 0) {
    const value = left.pop()
    heapBytes += BYTES_PER_VALUE
    if (typeof value === 'string') heapBytes += value.length
    else if (ArrayBuffer.isView(value)) externalBytes += value.byteLength
    else if (Array.isArray(value)) for (const member of value) left.push(member)
    else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) left.push(member)
    }
  }
  return { heapBytes, externalBytes }
}
