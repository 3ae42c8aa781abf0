import type { Database, Statement } from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import { fromDriver, STORE_LOST, toStoreError } from '../engine/sqlite-error.js'
import { toFailure } from '../../../lib/threads/failure.js'
import type { BoundCall, Outcome } from '../../calls/call.js'

/** A context that caches some of what it has written. */
export interface CachingContext {
  /** Writes were undone: what is cached of them must be read again. */
  clearCaches(): void
}

/**
 * Runs calls that write, one after another, and commits them together: one fsync for all, and none for calls that can all be repeated,
 * which the next takes along. A call that raises is undone alone; when the commit fails, or SQLite gives the transaction up, every call of the batch has failed. So it has when `requireFile`
 * raises, which is asked before, and after the commit: what was committed into a file that nobody will find is not acknowledged.
 */
export async function executeWrites<Context extends CachingContext>(
  database: Database,
  context: Context,
  calls: readonly BoundCall<Context>[],
  requireFile: () => void = () => undefined,
): Promise<Outcome[]> {
  try {
    requireFile()
    const bounds = boundsOf(database)
    setFlushing(database, bounds, !calls.every(({ repeats }) => repeats))
    bounds.begin.run()
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await executeOne(database, context, call))
    bounds.commit.run()
    requireFile()
    return outcomes
  } catch (raw) {
    rollBack(database)
    context.clearCaches()
    if (raw instanceof AppError && raw.code === STORE_LOST) saveWhatIsKept(database)
    const outcome: Outcome = { ok: false, failure: toFailure(toStoreError('write to tidegate.db', raw)) }
    return calls.map(() => outcome)
  }
}

interface Bounds extends Readonly<Record<'begin' | 'commit' | 'savepoint' | 'release', Statement>> {
  /** Whether a commit waits for the disk now. */
  isFlushing: boolean | undefined
}

const known = new WeakMap<Database, Bounds>()

/** What begins and ends each batch and each call, prepared once. */
function boundsOf(database: Database): Bounds {
  const found = known.get(database)
  if (found !== undefined) return found
  const bounds: Bounds = {
    isFlushing: undefined,
    begin: database.prepare('begin immediate'),
    commit: database.prepare('commit'),
    savepoint: database.prepare('savepoint call'),
    release: database.prepare('release call'),
  }
  known.set(database, bounds)
  return bounds
}

/** Compiled each time: a prepared pragma takes effect once, when it is prepared. */
function setFlushing(database: Database, bounds: Bounds, isFlushing: boolean): void {
  if (bounds.isFlushing === isFlushing) return
  database.pragma(`synchronous = ${isFlushing ? 'full' : 'normal'}`)
  bounds.isFlushing = isFlushing
}

async function executeOne<Context extends CachingContext>(
  database: Database,
  context: Context,
  call: BoundCall<Context>,
): Promise<Outcome> {
  const bounds = boundsOf(database)
  bounds.savepoint.run()
  try {
    const result = await call(context)
    bounds.release.run()
    return { ok: true, result }
  } catch (raw) {
    // A full disk ends the whole transaction, and with it the calls before this one.
    if (!database.inTransaction) throw raw
    database.exec('rollback to call')
    database.exec('release call')
    context.clearCaches()
    return { ok: false, failure: toFailure(fromDriver('write to tidegate.db', raw)) }
  }
}

/** A write-ahead log that was removed ends with the process: what it holds is put into the database, which may still be there. */
function saveWhatIsKept(database: Database): void {
  try {
    database.pragma('wal_checkpoint(passive)')
  } catch {
    // Why nothing is written has been said already.
  }
}

/** Runs calls that only read, each on one state of the database. */
export async function executeReads<Context>(
  database: Database,
  context: Context,
  calls: readonly BoundCall<Context>[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const call of calls) {
    try {
      database.exec('begin')
      outcomes.push({ ok: true, result: await call(context) })
    } catch (raw) {
      outcomes.push({ ok: false, failure: toFailure(fromDriver('read tidegate.db', raw)) })
    } finally {
      rollBack(database)
    }
  }
  return outcomes
}

/** Ends what is left of a transaction. In a damaged file that fails too: what failed first is what counts. */
function rollBack(database: Database): void {
  try {
    if (database.inTransaction) database.exec('rollback')
  } catch {
    // If the transaction is open all the same, the next `begin` says so.
  }
}
