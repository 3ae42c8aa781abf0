import { Worker } from 'node:worker_threads'
import { join } from 'node:path'
import { AppError } from '../../../errors/app-error.js'
import type { ThreadDeath } from '../../../lib/threads/supervised-thread.js'
import type { Readers } from '../../ports/readers.js'
import type { FindOperation, Runner } from '../../ports/operation.js'
import type { ServiceStore } from '../../ports/service-store.js'
import { LOCK_FILE } from '../engine/claim-data-directory.js'
import { FileWatch } from '../engine/file-watch.js'
import { keptDatabase, keptFile, lostFile } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { migrate } from '../engine/migrate.js'
import { serviceMigrations } from '../migrations/service.js'
import { openDatabase } from '../engine/open-database.js'
import { fromDriver, STORE_LOST } from '../engine/sqlite-error.js'
import { BatchingRunner } from '../../calls/batching-runner.js'
import type { ExecuteBatch } from '../../calls/batching-runner.js'
import { connectReading, connectWriting } from './connect.js'
import type { ServiceConnection } from './connect.js'
import { bindCall } from '../../calls/bind-call.js'
import type { StoreThreadOptions } from './messages.js'
import type { ThreadRole } from '../../calls/messages.js'
import { makeMaintenance } from '../maintenance/maintenance.js'
import { withMaintenance } from '../maintenance/maintenance-operations.js'
import type { SqliteReaders, SqliteTransaction } from '../maintenance/sqlite-context.js'
import { serviceDatabaseOptions } from '../engine/service-file.js'
import { StoreCondition } from './store-condition.js'
import { StoreThreadClient } from '../../calls/store-thread-client.js'
import { watchReaders, watchRunner } from '../../calls/watch-calls.js'

/** `tidegate.db`. Its lookups run on the calling thread; a problem is a file that is lost, damaged or full, or a thread that keeps dying. */
export interface SqliteServiceStore extends ServiceStore {
  /** Runs the operations of maintenance, too. */
  readonly writer: Runner<SqliteTransaction>
  readonly lookups: SqliteReaders
}

/** What can be run in a store. */
export interface StoreOperations {
  readonly reads: FindOperation<Readers>
  readonly writes: FindOperation<SqliteTransaction>
}

export interface OpenServiceStoreOptions {
  /** The folder of `tidegate.db`; created when absent. */
  readonly dataDir: string
  /** The script of a thread that finds the operations, or the operations themselves: then all run on the calling thread. */
  readonly operations: URL | StoreOperations
  /** How many pages `tidegate.db` may have, where everything runs on the calling thread: a disk that gets full. */
  readonly maxPages?: number
  /** Told of each thread that ended by itself. */
  readonly threadDied?: (death: ThreadDeath) => void
  /** Told when the file is lost, and with undefined when it is back at its path. */
  readonly fileChanged?: (problem: string | undefined) => void
}

interface Executor {
  readonly execute: ExecuteBatch
  readonly problem?: () => string | undefined
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
export async function openServiceStore(options: OpenServiceStoreOptions): Promise<SqliteServiceStore> {
  const { dataDir, fileChanged = () => undefined } = options
  const path = join(dataDir, 'tidegate.db')
  await prepare(path)
  const lookups = connectReading(path)
  // The first connection stays until the end, so that the files beside the database stay the same.
  const files = [...keptDatabase(path), ...keptFile(join(dataDir, LOCK_FILE))]
  const { applicationId } = serviceDatabaseOptions(path)
  const watch = await FileWatch.open({ path, applicationId, files, changed: fileChanged })
  const writing = openExecutor('write', path, files, options)
  const reading = openExecutor('read', path, files, options)
  const writer = new BatchingRunner(refusingWhenOverwritten(writing.execute, watch), MAX_WRITES_PER_COMMIT)
  const reader = new BatchingRunner(reading.execute, 1)
  const condition = new StoreCondition(Date.now)
  const failed = (error: unknown): void => {
    condition.failed(error)
    if (error instanceof AppError && error.code === STORE_LOST) void watch.check()
  }
  const watchedWriter = watchRunner(writer, { succeeded: () => condition.wrote(), failed })
  const watchedLookups = watchReaders(lookups.context, { succeeded: () => undefined, failed }, (raw) =>
    fromDriver('read tidegate.db', raw),
  )
  return {
    writer: watchedWriter,
    reader: watchRunner(reader, { succeeded: () => undefined, failed }),
    lookups: watchedLookups,
    maintenance: makeMaintenance(watchedWriter, watchedLookups.maintenance),
    problem: () => watch.problem ?? condition.problem ?? writing.problem?.() ?? reading.problem?.(),
    close: async () => {
      await Promise.all([writer.idle(), reader.idle()])
      await reading.close()
      lookups.close()
      // The writer last: who closes last puts the write-ahead log into the file, and a reader cannot.
      await writing.close()
      await watch.close()
    },
  }
}

/** What was overwritten in place is seen by the watch alone: SQLite itself may go on with the pages that it remembers. */
function refusingWhenOverwritten(execute: ExecuteBatch, watch: FileWatch): ExecuteBatch {
  return (calls) => {
    const { overwritten } = watch
    return overwritten === undefined ? execute(calls) : Promise.reject(lostFile(overwritten))
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

function openExecutor(
  role: ThreadRole,
  path: string,
  files: readonly KeptFile[],
  { operations, maxPages, threadDied }: OpenServiceStoreOptions,
): Executor {
  return operations instanceof URL
    ? inThread(operations, { path, role, files }, threadDied)
    : inProcess(operations, { path, role, files }, maxPages)
}

function inThread(
  script: URL,
  options: StoreThreadOptions,
  died: OpenServiceStoreOptions['threadDied'],
): Executor {
  const isReading = options.role === 'read'
  const client = new StoreThreadClient({
    name: `the thread that ${isReading ? 'reads' : 'writes'} tidegate.db`,
    start: () => new Worker(script, { workerData: options, resourceLimits: THREAD_LIMITS }),
    died,
    idleMs: isReading ? READING_IDLE_MS : undefined,
  })
  return {
    execute: (calls) => client.execute(calls),
    problem: () => client.problem,
    close: () => client.close(),
  }
}

function inProcess(
  { reads, writes }: StoreOperations,
  { path, role, files }: StoreThreadOptions,
  maxPages: number | undefined,
): Executor {
  if (role === 'read') return executorOf(connectReading(path), reads)
  return executorOf(
    connectWriting(path, maxPages === undefined ? {} : { maxPages }, files),
    withMaintenance(writes),
  )
}

function executorOf<Context>(
  { execute, close }: ServiceConnection<Context>,
  operations: FindOperation<Context>,
): Executor {
  const bind = bindCall(operations)
  return { execute: (calls) => execute(calls.map(bind)), close }
}
