import { join } from 'node:path'
import { AppError } from '../../../errors/app-error.js'
import { makeRemovalTime } from '../../../lib/clocks/removal-time.js'
import type { ThreadDeath } from '../../../lib/threads/supervised-thread.js'
import { BatchingRunner } from '../../calls/batching-runner.js'
import type { ExecuteBatch } from '../../calls/batching-runner.js'
import type { ThreadRole } from '../../calls/call.js'
import { threadExecutor } from '../../calls/executor.js'
import type { Executor, StoreOperations } from '../../calls/executor.js'
import { watchReaders } from '../../calls/watch-readers.js'
import { soleLeases } from '../../ports/leases.js'
import type { StoreMaintenance } from '../../ports/maintenance.js'
import type { Runner } from '../../ports/operation.js'
import type { ServiceStore } from '../../ports/service-store.js'
import type { IndexProgress } from '../audit/audit-end.js'
import { LOCK_FILE } from '../engine/claim-data-directory.js'
import { FileWatch } from '../engine/file-watch.js'
import { keptDatabase, keptFile, lostFile } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { migrate } from '../engine/migrate.js'
import { openDatabase } from '../engine/open-database.js'
import { serviceDatabaseOptions } from '../engine/service-file.js'
import { fromDriver, STORE_LOST, STORE_DAMAGED, STORE_FAILING, STORE_FULL } from '../engine/sqlite-error.js'
import {
  withMaintenance,
  indexColumns,
  indexText,
  mergeText,
  settleEventIds,
  releaseFreeSpace,
} from '../maintenance/maintenance-operations.js'
import type { SqliteReaders, SqliteTransaction, MaintenanceStatus } from '../maintenance/sqlite-context.js'
import { serviceMigrations } from '../migrations/service.js'
import { connectReading, connectWriting, openLookups } from './connect.js'
import type { StoreThreadOptions } from './serve-store.js'

/** Time for which a full or failing disk is reported if no other write is tried. */
const FAILURE_SHOWN_MS = 60_000

/**
 * `tidegate.db`. Lookups run on the calling thread. A problem is a lost, damaged or full file, or a
 * thread that keeps dying.
 */
export interface SqliteServiceStore extends ServiceStore {
  /** Also runs the operations of maintenance. */
  readonly writer: Runner<SqliteTransaction>
  readonly lookups: SqliteReaders
}

export interface OpenServiceStoreOptions {
  /** Folder of `tidegate.db`; created if absent. */
  readonly dataDir: string
  /**
   * Script of a thread that finds the operations, or the operations themselves to run all of them
   * on the calling thread.
   */
  readonly operations: URL | StoreOperations<SqliteTransaction>
  /**
   * Highest number of pages of `tidegate.db` if everything runs on the calling thread. Simulates a
   * full disk.
   */
  readonly maxPages?: number
  /** Called when a thread ended by itself. */
  readonly threadDied?: (death: ThreadDeath) => void
  /** Called when the file is lost, and with undefined when it is back at its path. */
  readonly fileChanged?: (problem: string | undefined) => void
}

/** Highest number of writes per commit, which bounds the time of a commit. */
const MAX_WRITES_PER_COMMIT = 1024

/**
 * Opens `tidegate.db` in a data directory and migrates its schema. Raises AppError `unavailable`
 * for a file that is damaged, locked, of another program or newer than this release. The file is
 * never replaced.
 */
export async function openServiceStore(options: OpenServiceStoreOptions): Promise<SqliteServiceStore> {
  const { dataDir, fileChanged = () => undefined } = options
  const path = join(dataDir, 'tidegate.db')
  await prepareFile(path)
  const lookups = openLookups(path)
  // This connection stays open until the end, so that the files next to the database stay the same.
  const files = [...keptDatabase(path), ...keptFile(join(dataDir, LOCK_FILE))]
  const { applicationId } = serviceDatabaseOptions(path)
  const watch = await FileWatch.open({ path, applicationId, files, changed: fileChanged })
  const writing = openExecutor('write', path, files, options)
  const reading = openExecutor('read', path, files, options)
  const condition = new StoreCondition(() => performance.now())
  const failed = (error: unknown): void => {
    condition.failed(error)
    if (error instanceof AppError && error.code === STORE_LOST) void watch.check()
  }
  const execute: ExecuteBatch = (calls) => {
    // Only the watch detects that the file was overwritten: SQLite may continue with cached pages.
    if (watch.overwritten !== undefined) throw lostFile(watch.overwritten)
    return writing.execute(calls)
  }
  const writer = new BatchingRunner(execute, MAX_WRITES_PER_COMMIT, {
    succeeded: () => condition.wrote(),
    failed,
  })
  const watchReads = { succeeded: () => undefined, failed }
  const reader = new BatchingRunner((calls) => reading.execute(calls), 1, watchReads)
  const watchedLookups = watchReaders(lookups.readers, watchReads, (raw) =>
    fromDriver('read tidegate.db', raw),
  )
  return {
    writer,
    reader,
    lookups: watchedLookups,
    maintenance: makeMaintenance(writer, watchedLookups.maintenance),
    now: Date.now,
    removalTime: makeRemovalTime(),
    leases: soleLeases,
    problem: () => watch.problem ?? condition.problem ?? writing.problem ?? reading.problem,
    close: async () => {
      await Promise.all([writer.idle(), reader.idle()])
      await reading.close()
      lookups.close()
      // The writer is closed last: the last connection copies the write-ahead log into the file,
      // which a reader cannot.
      await writing.close()
      await watch.close()
    },
  }
}

/** Migrates the schema of `tidegate.db`. Raises the errors of `openServiceStore`. */
export async function prepareFile(path: string): Promise<void> {
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
  const options: StoreThreadOptions = { path, role, files }
  if (operations instanceof URL)
    return threadExecutor({ script: operations, options, store: 'tidegate.db', died: threadDied })
  const { reads, writes } = operations
  return role === 'read'
    ? connectReading(path, reads)
    : connectWriting(path, { operations: withMaintenance(writes), files, maxPages })
}

/** Condition of the store's file, judged by the outcomes of calls. */
export class StoreCondition {
  readonly #now: () => number
  #damage: string | undefined
  #failure: { readonly message: string; readonly atMs: number } | undefined

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Problem with the file. Damage is reported until the next start of the service. */
  get problem(): string | undefined {
    if (this.#damage !== undefined) return this.#damage
    if (this.#failure === undefined || this.#now() - this.#failure.atMs > FAILURE_SHOWN_MS) return undefined
    return this.#failure.message
  }

  /** Notes why a call failed. */
  failed(error: unknown): void {
    if (!(error instanceof AppError)) return
    if (error.code === STORE_DAMAGED) this.#damage ??= error.message
    if (error.code === STORE_FULL || error.code === STORE_FAILING) {
      this.#failure = { message: error.message, atMs: this.#now() }
    }
  }

  /** Notes a successful write, which proves that the disk works and has space. */
  wrote(): void {
    this.#failure = undefined
  }
}

interface TrailIndexerDeps {
  readonly writer: Runner<SqliteTransaction>
  readonly progress: () => Promise<IndexProgress>
}

/** Number of records whose columns are indexed together. Larger groups are cheaper. */
const COLUMNS_GATHERED = 4000
const IDS_GATHERED = 20_000
/** Size of a step: events, triggers and reviews wait for it. */
const COLUMNS_STEP_VALUES = 1500
const IDS_STEP = 500
const TEXT_STEP = 20
const TEXT_STEP_BYTES = 1024 * 1024
const MERGE_STEP_PAGES = 16
const MERGE_STEP_MS = 3
/** Number of new records between two rounds above which the text index gets a single step. */
const BUSY_RECORDS = 200

/** The steps from the first one until nothing is due. */
interface Round {
  readonly isBusy: boolean
  hasColumns: boolean
}

/** Keeps the indexes up to date: first those of columns and event ids, then the text index. */
class TrailIndexer {
  readonly #deps: TrailIndexerDeps
  #endSeq = 0
  #isEntering = false
  #isMergeDue = false
  #round: Round | undefined

  constructor(deps: TrailIndexerDeps) {
    this.#deps = deps
  }

  /** Runs a step. Returns whether more is due in this round. */
  async step(): Promise<boolean> {
    const round = this.#round ?? (await this.#begin())
    // A failed step ends its round.
    this.#round = undefined
    const isMoreDue = await this.#continue(round)
    if (isMoreDue) this.#round = round
    return isMoreDue
  }

  async #begin(): Promise<Round> {
    const { endSeq } = await this.#deps.progress()
    const isBusy = this.#endSeq > 0 && endSeq - this.#endSeq > BUSY_RECORDS
    this.#endSeq = endSeq
    return { isBusy, hasColumns: true }
  }

  async #continue(round: Round): Promise<boolean> {
    if (round.hasColumns) {
      if (await this.#stepColumns(round.isBusy)) return true
      round.hasColumns = false
    }
    return (await this.#stepText()) && !round.isBusy
  }

  /** Returns whether there was something to do. */
  async #stepColumns(isBusy: boolean): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { columnsSeq, keysSeq, endSeq } = await progress()
    const isDue = this.#isEntering || endSeq - columnsSeq >= (isBusy ? COLUMNS_GATHERED : 1)
    if (isDue) {
      const step = { records: COLUMNS_GATHERED, values: COLUMNS_STEP_VALUES }
      this.#isEntering = await writer.run(indexColumns, step)
    }
    const isSettling =
      endSeq - keysSeq >= IDS_GATHERED && (await writer.run(settleEventIds, { limit: IDS_STEP }))
    return isDue || isSettling
  }

  /** Returns whether there was something to do. */
  async #stepText(): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { textSeq, endSeq } = await progress()
    const isDue = endSeq > textSeq
    if (!isDue && !this.#isMergeDue) return false
    if (isDue) await writer.run(indexText, { limit: TEXT_STEP, maxBytes: TEXT_STEP_BYTES })
    this.#isMergeDue = await writer.run(mergeText, { pages: MERGE_STEP_PAGES, maxMs: MERGE_STEP_MS })
    return true
  }
}

const RELEASING_STEP = { maxBytes: 2 * 1024 * 1024, maxMs: 3 }

/**
 * Makes the maintenance of `tidegate.db`. If nothing is due, nothing is written and no thread
 * started.
 */
export function makeMaintenance(
  writer: Runner<SqliteTransaction>,
  status: MaintenanceStatus,
): StoreMaintenance {
  const indexer = new TrailIndexer({ writer, progress: () => status.progress() })
  const releaseSpace = async (): Promise<boolean> =>
    (await status.freeBytes()) > 0 && (await writer.run(releaseFreeSpace, RELEASING_STEP))
  return { step: (task) => (task === 'search' ? indexer.step() : releaseSpace()) }
}
