import type { Database } from 'better-sqlite3'
import { timeOrderedId } from '../../../lib/time-ordered-id.js'
import { chooseDue } from '../../outbox/choose-due.js'
import type { DueMessage } from '../../outbox/choose-due.js'
import type {
  LatestTimes,
  Lease,
  LeaseQuery,
  OutboxMessage,
  OutboxProgress,
  OutboxRepository,
  OutboxState,
} from '../../ports/outbox-store.js'
import { toStoredMessage } from '../../tables/outbox-table.js'
import type { OutboxRow } from '../../tables/outbox-table.js'

/** Of the bodies of one lease: a large number of large messages goes out bit by bit. */
const MAX_LEASED_LENGTH = 8 * 1024 * 1024
const SOON_MS = 100

/** Each receiver that something waits for, found by leaping through the index rather than by reading it. */
const DUE_RECEIVERS = `
  with recursive waiting(receiver) as (
    select min(receiver) from outbox where state = 'pending'
    union all
    select (select min(receiver) from outbox where state = 'pending' and receiver > waiting.receiver)
    from waiting where waiting.receiver is not null
  )
  select receiver from waiting where receiver is not null`

const DUE_OF_RECEIVER = `
  select id, receiver, next_attempt_ms as dueMs from outbox
  where state = 'pending' and receiver = @receiver and next_attempt_ms <= @nowMs
  order by next_attempt_ms, id limit @limit`

const NEXT_OF_RECEIVER = `
  select min(next_attempt_ms) as due from outbox
  where state = 'pending' and receiver = @receiver and next_attempt_ms > @nowMs`

/** The outbox on a connection that writes. */
export function makeOutboxRepository(database: Database): OutboxRepository {
  const insert = prepareInsert(database)
  const lease = prepareLease(database)
  const update = database.prepare<[Record<keyof OutboxProgress, unknown>]>(
    `update outbox set state = @state, attempts = @attempts, next_attempt_ms = @nextAttemptMs, leased_until_ms = null,
       last_status = @lastStatus, last_error = @lastError, settled_ms = @settledMs where id = @id`,
  )
  const release = database.prepare<[number]>(
    `update outbox set next_attempt_ms = min(next_attempt_ms, ?), leased_until_ms = null
     where state = 'pending' and leased_until_ms is not null`,
  )
  const limitWaits = database.prepare<[LatestTimes]>(
    `update outbox set leased_until_ms = min(leased_until_ms, @leasedUntilMs),
       next_attempt_ms = iif(leased_until_ms is null, @nextAttemptMs, @leasedUntilMs)
     where state = 'pending' and next_attempt_ms > iif(leased_until_ms is null, @nextAttemptMs, @leasedUntilMs)`,
  )
  const selectOne = database.prepare<[number], OutboxRow>('select * from outbox where id = ?')
  const selectStates = database
    .prepare<[string], OutboxState>('select state from outbox where subject = ?')
    .pluck()
  const restart = database.prepare<[{ id: number; nowMs: number }]>(
    `update outbox set state = 'pending', attempts = 0, tried_since_ms = @nowMs, next_attempt_ms = @nowMs,
       leased_until_ms = null, settled_ms = null where id = @id`,
  )
  const deleteSettled = database.prepare<[number, number]>(
    'delete from outbox where id in (select id from outbox where settled_ms < ? limit ?)',
  )
  return {
    enqueue: (message) => Promise.resolve(insert(message, `msg_${timeOrderedId(message.createdMs)}`)),
    lease: (query) => Promise.resolve(lease(query)),
    record: ({ lastStatus, lastError, settledMs, ...progress }) => {
      const { changes } = update.run({
        lastStatus: lastStatus ?? null,
        lastError: lastError ?? null,
        settledMs: settledMs ?? null,
        ...progress,
      })
      return Promise.resolve(changes > 0)
    },
    releaseLeases: (nowMs) => {
      release.run(nowMs)
      return Promise.resolve()
    },
    limitWaits: (latest) => {
      limitWaits.run(latest)
      return Promise.resolve()
    },
    find: (id) => {
      const row = selectOne.get(id)
      return Promise.resolve(row === undefined ? undefined : toStoredMessage(row))
    },
    statesOf: (subject) => Promise.resolve(selectStates.all(subject)),
    restart: (id, nowMs) => {
      restart.run({ id, nowMs })
      return Promise.resolve()
    },
    deleteSettledBefore: (timeMs, limit) => Promise.resolve(deleteSettled.run(timeMs, limit).changes),
  }
}

function prepareInsert(database: Database): (message: OutboxMessage, webhookId: string) => number {
  const insert = database.prepare<[Record<string, unknown>]>(
    `insert into outbox (webhook_id, topic, url, receiver, headers, body, subject, application, execution_id, state, attempts, created_ms, tried_since_ms, next_attempt_ms)
     values (@webhookId, @topic, @url, @receiver, @headers, @body, @subject, @application, @executionId, 'pending', 0, @createdMs, @createdMs, @createdMs)`,
  )
  return ({ topic, url, body, headers, createdMs, ...about }, webhookId) => {
    const { lastInsertRowid } = insert.run({
      webhookId,
      topic,
      url,
      receiver: new URL(url).origin,
      headers: headers === undefined ? null : JSON.stringify(headers),
      body,
      subject: about.subject ?? null,
      application: about.application ?? null,
      executionId: about.executionId ?? null,
      createdMs,
    })
    return Number(lastInsertRowid)
  }
}

function prepareLease(database: Database): (query: LeaseQuery) => Lease {
  const receivers = database.prepare<[], { receiver: string }>(DUE_RECEIVERS)
  const oldest = database.prepare<[{ receiver: string; nowMs: number; limit: number }], DueMessage>(
    DUE_OF_RECEIVER,
  )
  const next = database.prepare<[{ receiver: string; nowMs: number }], { due: number | null }>(
    NEXT_OF_RECEIVER,
  )
  const hold = database.prepare<[{ id: number; leasedUntilMs: number }], OutboxRow>(
    'update outbox set next_attempt_ms = @leasedUntilMs, leased_until_ms = @leasedUntilMs where id = @id returning *',
  )
  return ({ nowMs, leasedUntilMs, limit, limitPerReceiver, underWay }) => {
    const due: DueMessage[] = []
    const dueTimes: number[] = []
    let isMoreDue = false
    for (const { receiver } of receivers.all()) {
      const free = Math.min(limitPerReceiver - (underWay[receiver] ?? 0), limit)
      const waiting = free > 0 ? oldest.all({ receiver, nowMs, limit: free }) : []
      if (waiting.length >= free) isMoreDue = true
      due.push(...waiting)
      const later = next.get({ receiver, nowMs })?.due
      if (typeof later === 'number') dueTimes.push(later)
    }
    const held: OutboxRow[] = []
    let length = 0
    const chosen = chooseDue(due, underWay, limit)
    for (const id of chosen) {
      if (length > MAX_LEASED_LENGTH) {
        dueTimes.push(nowMs + SOON_MS)
        break
      }
      for (const row of hold.all({ id, leasedUntilMs })) {
        held.push(row)
        length += row.body.length
      }
    }
    return {
      messages: held.map(toStoredMessage),
      nextDueMs: dueTimes.length === 0 ? undefined : Math.min(...dueTimes),
      isMoreDue: isMoreDue || chosen.length < due.length,
    }
  }
}
