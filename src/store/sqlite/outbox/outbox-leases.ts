import type { Database } from 'better-sqlite3'
import { chooseDue } from '../../outbox/choose-due.js'
import type { DueMessage } from '../../outbox/choose-due.js'
import type { EngineMethods } from '../../outbox/outbox-repository.js'
import type { Lease, LeaseQuery, OutboxProgress, OutboxRepository } from '../../ports/outbox-store.js'
import { toStoredMessage } from '../../tables/outbox-table.js'
import type { OutboxRow } from '../../tables/outbox-table.js'

/** Limit of the bodies of one lease, so that many large messages are sent in several leases. */
const MAX_LEASED_LENGTH = 8 * 1024 * 1024
const NEXT_LEASE_MS = 100

/** The receivers of pending messages. Leaps from one to the next in the index. */
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

/** Leases messages on the connection that writes. */
export function makeOutboxLeases(database: Database): Pick<OutboxRepository, EngineMethods> {
  const lease = prepareLease(database)
  const update = database.prepare<[Record<keyof OutboxProgress, unknown>]>(
    `update outbox set state = @state, attempts = @attempts, next_attempt_ms = @nextAttemptMs, leased_until_ms = null,
       last_status = @lastStatus, last_error = @lastError, settled_ms = @settledMs where id = @id`,
  )
  const release = database.prepare<[number]>(
    `update outbox set next_attempt_ms = min(next_attempt_ms, ?), leased_until_ms = null
     where state = 'pending' and leased_until_ms is not null`,
  )
  return {
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
        dueTimes.push(nowMs + NEXT_LEASE_MS)
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
