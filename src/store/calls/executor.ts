import { Worker } from 'node:worker_threads'

import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { FindOperation } from '../ports/operation.js'
import type { Readers } from '../ports/readers.js'
import type { Transaction } from '../ports/transaction.js'
import type { ExecuteBatch } from './batching-runner.js'
import { bindCall } from './call.js'
import type { CallConnection, ThreadRole } from './call.js'
import { StoreThreadClient } from './store-thread-client.js'

/** Where the batches of a runner go. */
export interface Executor {
  readonly execute: ExecuteBatch
  readonly problem?: () => string | undefined
  /** Finishes what was begun, unless the signal is aborted: then what is under way is ended. */
  readonly close: (givenUp?: AbortSignal) => void | Promise<void>
}

/** What can be run in a store. */
export interface StoreOperations<Writing extends Transaction = Transaction> {
  readonly reads: FindOperation<Readers>
  readonly writes: FindOperation<Writing>
}

/** What a thread of a store is. */
export interface StoreThread {
  readonly script: URL
  /** What the script is given. */
  readonly options: { readonly role: ThreadRole }
  /** What the thread works on, for people. */
  readonly store: string
  /** Told when the thread ended by itself. */
  readonly died: ((death: ThreadDeath) => void) | undefined
}

/** Searches come seldom and together: what their thread holds, 30 MB, is then given back. */
const READING_IDLE_MS = 60_000
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

/** Runs calls in a thread of their own. */
export function threadExecutor({ script, options, store, died }: StoreThread): Executor {
  const isReading = options.role === 'read'
  const client = new StoreThreadClient({
    name: `the thread that ${isReading ? 'reads' : 'writes'} ${store}`,
    start: () => new Worker(script, { workerData: options, resourceLimits: THREAD_LIMITS }),
    died,
    idleMs: isReading ? READING_IDLE_MS : undefined,
  })
  return {
    execute: (calls) => client.execute(calls),
    problem: () => client.problem,
    close: (givenUp) => client.close(givenUp),
  }
}

/** Runs calls on the calling thread. */
export function localExecutor<Context>(
  connection: CallConnection<Context>,
  operations: FindOperation<Context>,
): Executor {
  const bind = bindCall(operations)
  return { execute: (calls) => connection.execute(calls.map(bind)), close: () => connection.close() }
}
