import type { Database, Statement } from 'better-sqlite3'

import { AppError } from '../../../errors/app-error.js'
import { toFailure } from '../../../lib/threads/failure.js'
import { continueTrace } from '../../outbox/outbox-repository.js'
import type { OutboxRepository } from '../../ports/outbox-store.js'
import type { Call, CallConnection, Outcome } from '../../calls/call.js'
import type { FindOperation } from '../../ports/operation.js'
import { fromDriver, STORE_LOST, toStoreError } from '../engine/sqlite-error.js'

/**
 * Calls that write about a fifth of the pages at which a commit copies the log: about 5 ms of work.
 */
const CALLS_PER_CHECKPOINT = 50

/**
 * Idle time before the log is copied. A client without pauses waits for a copying commit now and
 * then.
 */
const IDLE_MS = 2

/** Idle time before fewer pages are copied: copying also lets the file shrink. */
const LONG_IDLE_MS = 10_000

/** A context that caches some of its writes. */
export interface CachingContext {
  /** Forgets cached writes, since some were undone. */
  clearCaches(): void
}

const ACTION = 'write to tidegate.db'
/**
 * One call of maintenance writes as much as ten calls of features: it removes fifty records, for
 * example.
 */
const MAINTENANCE_WEIGHT = 10

/** The connection that writes. There is one at a time, so that the trail has one end. */
export class WriteConnection<
  Context extends CachingContext & { readonly outbox?: OutboxRepository },
> implements CallConnection {
  readonly #database: Database
  readonly #context: Context
  readonly #find: FindOperation<Context>
  readonly #requireFile: () => void
  readonly #checkpoint: IdleCheckpoint
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'savepoint' | 'release', Statement>>
  /** Whether commits wait for the disk. */
  #isFlushing: boolean | undefined

  /** `requireFile` raises if the files of the database are not at their paths. */
  constructor(
    database: Database,
    context: Context,
    find: FindOperation<Context>,
    requireFile: () => void = () => undefined,
  ) {
    this.#database = database
    this.#context = context
    this.#find = find
    this.#requireFile = requireFile
    this.#checkpoint = new IdleCheckpoint(database, requireFile)
    this.#statements = {
      begin: database.prepare('begin immediate'),
      commit: database.prepare('commit'),
      savepoint: database.prepare('savepoint call'),
      release: database.prepare('release call'),
    }
  }

  /**
   * Runs calls one after another and commits them together, with one fsync. A batch of calls that
   * can all be repeated needs none: the next fsync covers it. A call that raises is undone alone.
   * All calls fail if the commit fails, if SQLite gives up the transaction, or if the file is not
   * at its path before or after the commit: a write into a lost file is not acknowledged.
   */
  async execute(calls: readonly Call[]): Promise<Outcome[]> {
    try {
      this.#requireFile()
      this.#setFlushing(!calls.every(({ repeats }) => repeats))
      this.#statements.begin.run()
      const outcomes: Outcome[] = []
      for (const call of calls) outcomes.push(await this.#one(call))
      this.#statements.commit.run()
      this.#requireFile()
      return outcomes
    } catch (raw) {
      rollBack(this.#database)
      this.#context.clearCaches()
      if (raw instanceof AppError && raw.code === STORE_LOST) this.#saveLog()
      const outcome: Outcome = { ok: false, failure: toFailure(toStoreError(ACTION, raw)) }
      return calls.map(() => outcome)
    } finally {
      const weights = calls.map(({ repeats }) => (repeats === true ? MAINTENANCE_WEIGHT : 1))
      this.#checkpoint.wrote(weights.reduce((sum, weight) => sum + weight, 0))
    }
  }

  close(): Promise<void> {
    this.#checkpoint.stop()
    this.#database.close()
    return Promise.resolve()
  }

  async #one({ operation, args, traceparent }: Call): Promise<Outcome> {
    this.#statements.savepoint.run()
    try {
      const result = await this.#find(operation).apply(
        continueTrace(this.#context, traceparent),
        args as never,
      )
      this.#statements.release.run()
      return { ok: true, result }
    } catch (raw) {
      // A full disk ends the whole transaction, and the calls before this one with it.
      if (!this.#database.inTransaction) throw raw
      this.#database.exec('rollback to call')
      this.#database.exec('release call')
      this.#context.clearCaches()
      return { ok: false, failure: toFailure(fromDriver(ACTION, raw)) }
    }
  }

  /** Compiles the pragma each time: a prepared one takes effect only once, when it is prepared. */
  #setFlushing(isFlushing: boolean): void {
    if (this.#isFlushing === isFlushing) return
    this.#database.pragma(`synchronous = ${isFlushing ? 'full' : 'normal'}`)
    this.#isFlushing = isFlushing
  }

  /**
   * Copies a write-ahead log that was removed, and ends with the process, into the database, which
   * may still exist.
   */
  #saveLog(): void {
    try {
      this.#database.pragma('wal_checkpoint(passive)')
    } catch {
      // The failed batch has reported why nothing is written.
    }
  }
}

/** Rolls back an open transaction. In a damaged file that fails too: the first error counts. */
export function rollBack(database: Database): void {
  try {
    if (database.inTransaction) database.exec('rollback')
  } catch {
    // If the transaction is still open, the next `begin` fails.
  }
}

/**
 * Copies the write-ahead log into the database in pauses, so that few commits have to copy
 * thousands of pages.
 */
export class IdleCheckpoint {
  readonly #database: Database
  readonly #requireFile: () => void
  #calls = 0
  #timer: NodeJS.Timeout | undefined

  /** `requireFile` raises if the files of the database are not at their paths. */
  constructor(database: Database, requireFile: () => void) {
    this.#database = database
    this.#requireFile = requireFile
  }

  /** Notes a commit of some calls. */
  wrote(calls: number): void {
    this.#calls += calls
    clearTimeout(this.#timer)
    const idleMs = this.#calls < CALLS_PER_CHECKPOINT ? LONG_IDLE_MS : IDLE_MS
    this.#timer = setTimeout(() => this.#copy(), idleMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #copy(): void {
    this.#timer = undefined
    this.#calls = 0
    try {
      this.#requireFile()
      this.#database.pragma('wal_checkpoint(passive)')
    } catch {
      // The next commit copies the log, or reports the problem.
    }
  }
}
