import { AppError } from '../../../errors.js'
import type { Operation, Runner } from '../../operation.js'
import { fromFailure } from './call.js'
import type { Call, Outcome } from './call.js'

/** A call that waits for its turn, with the operation itself where no thread has to find it by name. */
export interface PendingCall extends Call {
  readonly apply: (context: never, args: never) => Promise<unknown>
}

interface Waiting extends PendingCall {
  readonly resolve: (result: never) => void
  readonly reject: (error: AppError) => void
}

/** Where batches go: gives one outcome for each call, in order; rejects when none of them was run. */
export type ExecuteBatch = (calls: readonly PendingCall[]) => Promise<readonly Outcome[]>

/** Gathers the calls that arrive while a batch is under way into the next one: the busier, the fewer commits. */
export class BatchingRunner implements Runner<never> {
  readonly #execute: ExecuteBatch
  readonly #maxBatch: number
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(execute: ExecuteBatch, maxBatch: number) {
    this.#execute = execute
    this.#maxBatch = maxBatch
  }

  run<Args, Result>(operation: Operation<never, Args, Result>, args: Args): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { name, apply } = operation
      this.#waiting.push({ operation: name, apply, args, resolve, reject })
      this.#running ??= this.#runAll()
    })
  }

  /** Resolves when no call is waiting any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #runAll(): Promise<void> {
    // Calls of the same turn of the event loop go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#maxBatch)
      try {
        settle(batch, await this.#execute(batch))
      } catch (cause) {
        for (const { reject } of batch) reject(toUnavailable(cause))
      }
    }
    this.#running = undefined
  }
}

function settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  batch.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) reject(toUnavailable(undefined))
    else if (outcome.ok) resolve(outcome.result as never)
    else reject(fromFailure(outcome.failure))
  })
}

function toUnavailable(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('unavailable', 'the store has stopped; try again', { cause })
}
