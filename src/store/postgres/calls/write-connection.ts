import type { Kysely } from 'kysely'
import { AppError, toError } from '../../../errors/app-error.js'
import { toFailure } from '../../../lib/threads/failure.js'
import type { Failure } from '../../../lib/threads/failure.js'
import { makeAnalysisRepository } from '../../analysis/analysis-repository.js'
import type { Call, CallConnection, Outcome } from '../../calls/call.js'
import { makeExceptionRepository } from '../../exceptions/exception-repository.js'
import { makeGateRepository } from '../../gates/gate-repository.js'
import { makeNotificationRepository } from '../../notifications/notification-repository.js'
import { continueTrace, makeOutboxRepository } from '../../outbox/outbox-repository.js'
import type { AuditKeeper, RemovedRecords } from '../../ports/audit-store.js'
import type { FindOperation } from '../../ports/operation.js'
import type { Transaction } from '../../ports/transaction.js'
import { makeEventQueue, makeRegistryRepository } from '../../registry/registry-repository.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import type { StoredEnd } from '../../trail/audit-chain.js'
import { addCheckpoint, makeTrailQueries, requireRetentionCheckpoint } from '../../trail/trail-queries.js'
import { makeAuditAppender } from '../audit/audit-appender.js'
import type { PostgresAppender } from '../audit/audit-appender.js'
import { newestRecord, readEnd } from '../audit/audit-reader.js'
import { TRAIL } from '../audit/trail-months.js'
import { EventIsStored, TrailState } from '../audit/trail-state.js'
import { requireWriter, LOCK_CLASS } from '../engine/migrate.js'
import {
  fromDriver,
  isAboutOneCall,
  isStaleConnection,
  isRetryable,
  toStoreError,
} from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { POSTGRES, queryBuilder } from '../engine/session-dialect.js'
import { Session } from '../engine/session.js'
import { first, run } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'
import { monthOf } from '../months/month.js'
import type { Part } from '../months/month.js'
import { addMonthsAlone, isMonthMissing, listParts, removePart } from '../months/monthly-table.js'
import { makeOutboxLeases } from '../outbox/outbox-leases.js'

const ACTION = 'write to the database'
const MAKE_MONTHS = 'make a table for the month in the database'
/** Tries of a batch whose transaction the server or the connection ended before its commit. */
const MAX_TRIES = 3
/** Number of batches that look up each event after a repeated event, since others often follow. */
const CAREFUL_BATCHES = 20
/** An operation is short, and others wait for the lock that it may hold. */
const TIMEOUTS = { statementMs: 15_000, lockMs: 10_000 }

/** Returns the connection of a replica, `owner`, that writes. It is opened with the first call. */
export function connectWriting(
  settings: PostgresSettings,
  owner: string,
  operations: FindOperation<Transaction>,
): CallConnection {
  const session = new Session(settings, TIMEOUTS)
  return new WriteConnection(session, new WriteContext(session, owner), operations)
}

/**
 * A call failed after writing, or hid a failure. The batch must be undone and its calls run one by
 * one.
 */
class CallFailed extends Error {
  override readonly name = 'CallFailed'
}

/**
 * The writing connection of a replica. A transaction holds a lock until its commit, so replicas
 * write in turn: operations see all earlier writes of other replicas, and the trail has one end.
 */
class WriteConnection implements CallConnection {
  readonly #session: Session
  readonly #context: WriteContext
  readonly #find: FindOperation<Transaction>
  #carefulBatches = 0

  constructor(session: Session, context: WriteContext, find: FindOperation<Transaction>) {
    this.#session = session
    this.#context = context
    this.#find = find
  }

  /** Runs calls one after another and commits them together. A call that raises is undone alone. */
  async execute(calls: readonly Call[]): Promise<readonly Outcome[]> {
    if (this.#carefulBatches > 0) this.#carefulBatches -= 1
    for (let tries = 1; ; tries++) {
      const progress = { isCommitting: false }
      try {
        return await this.#together(calls, progress)
      } catch (raw) {
        await this.#session.rollBack()
        if (raw instanceof EventIsStored && tries < MAX_TRIES) {
          this.#carefulBatches = CAREFUL_BATCHES
          continue
        }
        if (isMonthMissing(raw, TRAIL.name) && tries < MAX_TRIES) {
          const failure = await this.#addMonths()
          if (failure === undefined) continue
          return calls.map(() => ({ ok: false, failure }))
        }
        const isOfOneCall = raw instanceof CallFailed || isAboutOneCall(raw)
        if (isOfOneCall && calls.length > 1) return await this.#oneByOne(calls)
        const mayRetry = isRetryable(raw) || (isStaleConnection(raw) && !progress.isCommitting)
        if (mayRetry && tries < MAX_TRIES) continue
        const failure = toFailure(
          raw instanceof CallFailed ? fromDriver(ACTION, raw.cause ?? raw) : toStoreError(ACTION, raw),
        )
        return calls.map(() => ({ ok: false, failure }))
      }
    }
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #together(calls: readonly Call[], progress: { isCommitting: boolean }): Promise<Outcome[]> {
    const begun = await beginWriting(this.#session, this.#context.endedMs)
    requireWriter(serviceSchema, begun)
    this.#context.begin(begun, this.#carefulBatches === 0)
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(await this.#one(call))
    await this.#context.flush()
    progress.isCommitting = true
    const [committed] = await this.#session.script('commit')
    // The server rolls back without an error if an earlier statement failed and the call ignored
    // that.
    if (committed?.command !== 'COMMIT') throw new CallFailed('a call ignored a failed statement')
    return outcomes
  }

  async #one({ operation, args, traceparent }: Call): Promise<Outcome> {
    const before = this.#context.changes
    try {
      const transaction = continueTrace(this.#context.transaction, traceparent)
      return { ok: true, result: await this.#find(operation).apply(transaction, args as never) }
    } catch (raw) {
      if (raw instanceof EventIsStored) throw raw
      // The server has ended the transaction.
      if (!(raw instanceof AppError) && fromDriver(ACTION, raw) !== raw) throw raw
      if (this.#context.changes !== before) {
        // The call may have failed because it took a repeated event for a new one.
        await this.#context.prove()
        throw new CallFailed('a call failed', { cause: toError(raw) })
      }
      return { ok: false, failure: toFailure(raw) }
    }
  }

  /** Adds this month and the next to the trail. Returns the failure, if any. */
  async #addMonths(): Promise<Failure | undefined> {
    const months = [0, 1].map((later) => monthOf(TRAIL.name, this.#context.nowMs, later))
    try {
      await addMonthsAlone(this.#session, TRAIL, months)
      return undefined
    } catch (raw) {
      await this.#session.rollBack()
      return toFailure(toStoreError(MAKE_MONTHS, raw))
    }
  }

  /** Runs each call in a transaction of its own. */
  async #oneByOne(calls: readonly Call[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) outcomes.push(...(await this.execute([call])))
    return outcomes
  }
}

/** Context of a replica's writing operations, reused for all transactions. */
class WriteContext {
  readonly transaction: Transaction
  readonly #session: Session
  readonly #trail = new TrailState()
  readonly #appender: PostgresAppender

  constructor(session: Session, owner: string) {
    const db = queryBuilder<ServiceDatabase>(session)
    this.#session = session
    this.#appender = makeAuditAppender(session, this.#trail)
    this.transaction = {
      analysis: makeAnalysisRepository(db),
      audit: makeAuditKeeper(session, db, this.#trail, this.#appender),
      eventQueue: makeEventQueue(db),
      outbox: { ...makeOutboxRepository(db), ...makeOutboxLeases(session, owner) },
      gates: makeGateRepository(db, POSTGRES),
      exceptions: makeExceptionRepository(db),
      registry: makeRegistryRepository(db),
      notifications: makeNotificationRepository(db),
    }
  }

  /** Number of writes, pending records included. */
  get changes(): number {
    return this.#session.writes + this.#trail.end.seq
  }

  /** Storage time of the last record that this process knows. */
  get endedMs(): number {
    return this.#trail.end.recordedMs
  }

  /** The database's time at the beginning of the transaction. */
  get nowMs(): number {
    return this.#trail.nowMs
  }

  /** Begins a transaction. `isTrusting` is that of `TrailState`. */
  begin({ end, nowMs }: Begun, isTrusting: boolean): void {
    this.#trail.reset(end, nowMs, isTrusting)
  }

  /** Raises `EventIsStored` if a pending event is not new. */
  prove(): Promise<void> {
    return this.#appender.prove()
  }

  /** Writes the pending records. */
  flush(): Promise<void> {
    return this.#appender.flush()
  }
}

/** State at the beginning of a writing transaction, read under the lock. */
interface Begun {
  readonly end: StoredEnd
  /** The database's clock. */
  readonly nowMs: number
  readonly oldestWriter: number
}

const WRITING = 1
/**
 * With read committed, each statement sees all earlier commits, whatever the default isolation of
 * the database: the lock protects the rows read.
 */
const BEGIN = `begin isolation level read committed;
  select pg_advisory_xact_lock(${LOCK_CLASS}, ${WRITING});
  select oldest_writer, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms from store_schema`

interface SchemaRow {
  readonly oldest_writer: number
  readonly now_ms: number
}

/**
 * Begins a transaction in one round trip and waits until no other replica writes. `endedMs` is a
 * known time of the last record: no later record is older.
 */
async function beginWriting(session: Session, endedMs: number): Promise<Begun> {
  const [, , schemas, ends] = await session.script(`${BEGIN}; ${newestRecord(endedMs)}`)
  const schema = schemas?.rows[0] as SchemaRow | undefined
  const newest = ends?.rows[0] as StoredEnd | undefined
  return {
    end: newest ?? (await readEnd(session)),
    nowMs: schema?.now_ms ?? 0,
    oldestWriter: schema?.oldest_writer ?? 0,
  }
}

/** The trail in a transaction. */
function makeAuditKeeper(
  session: Session,
  db: Kysely<ServiceDatabase>,
  state: TrailState,
  appender: PostgresAppender,
): AuditKeeper {
  const { find } = makeTrailQueries(db)
  return {
    append: (entry) => appender.append(entry),
    end: () => Promise.resolve({ seq: state.end.seq, hash: Buffer.from(state.end.hash).toString('hex') }),
    find: async (seq) => {
      await appender.flush()
      return await find(seq)
    },
    addCheckpoint: async (checkpoint) => {
      await appender.flush()
      await addCheckpoint(db, checkpoint)
    },
    deleteThrough: async (seq, limit) => {
      await appender.flush()
      await requireRetentionCheckpoint(db, seq)
      return await removeRecords(session, seq, limit, state.nowMs)
    },
  }
}

/** Event ids per record and step: ids are short, so a step removes more of them. */
const IDS_PER_RECORD = 20
const NOTHING: RemovedRecords = { removed: 0, isMoreLeft: false }

/**
 * Removes some of the oldest records up to a retention checkpoint: a whole month if all of it may
 * go, or at most `limit` records of the part from before the trail had months. `nowMs` is the
 * database's time.
 */
async function removeRecords(
  session: Session,
  throughSeq: number,
  limit: number,
  nowMs: number,
): Promise<RemovedRecords> {
  const [oldest] = await listParts(session, TRAIL.name)
  if (oldest === undefined) return NOTHING
  const kept = await first<{ first: number | null; last: number | null }>(
    session,
    `select min(seq) as first, max(seq) as last from ${oldest.name}`,
  )
  // An empty part ends before all records.
  const [from, to] = [kept?.first ?? 1, kept?.last ?? 0]
  // A month that is over gets no more records.
  if (to <= throughSeq && oldest.toMs <= nowMs) return await removeMonth(session, oldest, { from, to }, limit)
  return oldest.fromMs === undefined ? await removeRows(session, throughSeq, limit) : NOTHING
}

/** Removes the event ids of a month in several steps, then the month. */
async function removeMonth(
  session: Session,
  part: Part,
  { from, to }: { readonly from: number; readonly to: number },
  limit: number,
): Promise<RemovedRecords> {
  const ids = await run(
    session,
    'delete from audit_event_ids where seq in (select seq from audit_event_ids where seq <= $1 order by seq limit $2)',
    [to, limit * IDS_PER_RECORD],
  )
  if (ids > 0) return { removed: 0, isMoreLeft: true }
  const isGone = await removePart(session, part)
  return isGone ? { removed: Math.max(0, to - from + 1), isMoreLeft: true } : NOTHING
}

async function removeRows(session: Session, throughSeq: number, limit: number): Promise<RemovedRecords> {
  await run(session, 'insert into audit_retention values ($1)', [throughSeq])
  const removed = await run(
    session,
    'delete from audit where seq in (select seq from audit where seq <= $1 order by seq limit $2)',
    [throughSeq, limit],
  )
  await run(session, 'delete from audit_retention')
  if (removed > 0) {
    const oldest = '(select seq from audit order by seq limit 1)'
    await run(session, `delete from audit_event_ids where seq <= $1 and seq < coalesce(${oldest}, $1 + 1)`, [
      throughSeq,
    ])
  }
  return { removed, isMoreLeft: removed === limit }
}
