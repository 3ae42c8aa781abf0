import { Worker } from 'node:worker_threads'
import { join } from 'node:path'
import type { Reader, Readers } from '../../readers.js'
import type { Writer } from '../../transaction.js'
import { migrate } from '../migrate.js'
import { serviceMigrations } from '../migrations/service.js'
import { openDatabase } from '../open-database.js'
import { BatchingRunner } from './batching-runner.js'
import type { ExecuteBatch, PendingCall } from './batching-runner.js'
import { connectReading, connectWriting } from './connect.js'
import type { ServiceConnection } from './connect.js'
import type { BoundCall } from './execute-batch.js'
import type { StoreThreadOptions, ThreadRole } from './messages.js'
import { serviceDatabaseOptions } from './service-database.js'
import { StoreCondition } from './store-condition.js'
import { StoreThreadClient } from './store-thread-client.js'
import { watchReaders, watchRunner } from './watch-calls.js'

/** The durable records of the service. */
export interface ServiceStore {
  readonly writer: Writer
  /** For what may take long. */
  readonly reader: Reader
  /** For single rows, at once and on the calling thread. */
  readonly lookups: Readers
  /** What is wrong with the file, by what became of the calls so far: damage, a full disk. */
  readonly problem: () => string | undefined
  /** Finishes what was begun and closes the file. */
  readonly close: () => Promise<void>
}

export interface OpenServiceStoreOptions {
  /** The folder of `tidegate.db`; created when absent. */
  readonly dataDir: string
  /** The script of a thread of the store; without it everything runs on the calling thread. */
  readonly threadScript?: URL
  /** How many pages `tidegate.db` may have, where everything runs on the calling thread: a disk that gets full. */
  readonly maxPages?: number
}

interface Executor {
  readonly execute: ExecuteBatch
  readonly close: () => void | Promise<void>
}

/** So many writes at most are one commit: none waits for ever longer ones. */
const MAX_WRITES_PER_COMMIT = 1024
/** Searches come seldom and together: what their thread holds, 30 MB, is then given back. */
const READING_IDLE_MS = 60_000
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

/**
 * Opens `tidegate.db` in a data directory and brings its schema up to date. Raises AppError `unavailable` for a file
 * that is damaged, foreign, locked or newer than this release; it is never replaced.
 */
export async function openServiceStore({
  dataDir,
  threadScript,
  maxPages,
}: OpenServiceStoreOptions): Promise<ServiceStore> {
  const path = join(dataDir, 'tidegate.db')
  await prepare(path)
  const lookups = connectReading(path)
  const open = (role: ThreadRole): Executor =>
    threadScript === undefined ? inProcess(path, role, maxPages) : inThread(threadScript, { path, role })
  const writing = open('write')
  const reading = open('read')
  const writer = new BatchingRunner(writing.execute, MAX_WRITES_PER_COMMIT)
  const reader = new BatchingRunner(reading.execute, 1)
  const condition = new StoreCondition(Date.now)
  const failed = (error: unknown): void => condition.failed(error)
  return {
    writer: watchRunner(writer, { succeeded: () => condition.wrote(), failed }),
    reader: watchRunner(reader, { succeeded: () => undefined, failed }),
    lookups: watchReaders(lookups.context, failed),
    problem: () => condition.problem,
    close: async () => {
      await Promise.all([writer.idle(), reader.idle()])
      await reading.close()
      lookups.close()
      // The writer last: who closes last puts the write-ahead log into the file, and a reader cannot.
      await writing.close()
    },
  }
}

async function prepare(path: string): Promise<void> {
  const database = openDatabase(serviceDatabaseOptions(path))
  try {
    await migrate(database, serviceMigrations)
  } finally {
    database.close()
  }
}

function inThread(script: URL, options: StoreThreadOptions): Executor {
  const client = new StoreThreadClient(
    () => new Worker(script, { workerData: options, resourceLimits: THREAD_LIMITS }),
    options.role === 'read' ? READING_IDLE_MS : undefined,
  )
  return { execute: (calls) => client.execute(calls), close: () => client.close() }
}

function inProcess(path: string, role: ThreadRole, maxPages: number | undefined): Executor {
  if (role === 'read') return executorOf(connectReading(path))
  return executorOf(connectWriting(path, maxPages === undefined ? {} : { maxPages }))
}

function executorOf<Context>({ execute, close }: ServiceConnection<Context>): Executor {
  const bind =
    ({ apply, args }: PendingCall): BoundCall<Context> =>
    (context) =>
      apply(context as never, args as never)
  return { execute: (calls) => execute(calls.map(bind)), close }
}
