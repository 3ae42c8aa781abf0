import { chooseDue } from '../../outbox/choose-due.js'
import type { EngineMethods } from '../../outbox/outbox-repository.js'
import type { Lease, LeaseQuery, OutboxRepository } from '../../ports/outbox-store.js'
import { toStoredMessage } from '../../tables/outbox-table.js'
import type { OutboxRow } from '../../tables/outbox-table.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'
import { REPLICA } from '../sharing/replica-leases.js'

/** Limit of the bodies of one lease, so that many large messages are sent in several leases. */
const MAX_LEASED_LENGTH = 8 * 1024 * 1024
const NEXT_LEASE_MS = 100

/** The receivers of pending messages. Leaps from one to the next in the index. */
const WAITING = `with recursive waiting (receiver) as (
    (select min(receiver) from outbox where state = 'pending')
    union all
    select (select min(receiver) from outbox where state = 'pending' and receiver > waiting.receiver)
    from waiting where waiting.receiver is not null
  )`
const DUE = `${WAITING}
  select due.* from waiting cross join lateral (
    select id, receiver, next_attempt_ms as "dueMs", length(body) as length from outbox
    where state = 'pending' and receiver = waiting.receiver and next_attempt_ms <= $1
    order by next_attempt_ms, id limit $2) as due`
const NEXT = `${WAITING}
  select min(later.due) as due from waiting cross join lateral (
    select min(next_attempt_ms) as due from outbox
    where state = 'pending' and receiver = waiting.receiver and next_attempt_ms > $1) as later`
const UNDER_WAY_ELSEWHERE = `
  select receiver, count(*) as messages from outbox
  where lease_owner is not null and lease_owner <> $1 and state = 'pending' and leased_until_ms > $2 group by receiver`

interface DueRow {
  readonly id: number
  readonly receiver: string
  readonly dueMs: number
  readonly length: number
}

/** Leases messages for one replica, `owner`. */
export function makeOutboxLeases(queries: Queries, owner: string): Pick<OutboxRepository, EngineMethods> {
  return {
    lease: (query) => leaseDue(queries, owner, query),
    releaseLeases: (nowMs) => freeLeasesOfDead(queries, owner, nowMs),
    record: async ({ id, state, attempts, nextAttemptMs, lastStatus, lastError, settledMs }) => {
      // A replica that has lost the lease may still record that the message was delivered, so that
      // it is not sent again.
      const changed = await run(
        queries,
        `update outbox set state = $2, attempts = $3, next_attempt_ms = $4, leased_until_ms = null, lease_owner = null,
           last_status = $5, last_error = $6, settled_ms = $7
         where id = $1 and state = 'pending' and (lease_owner is null or lease_owner = $8 or $2 = 'delivered')`,
        [
          ...[id, state, attempts, Math.ceil(nextAttemptMs)],
          ...[lastStatus ?? null, lastError ?? null, settledMs ?? null, owner],
        ],
      )
      return changed > 0
    },
  }
}

/**
 * Leases due messages for a replica. Messages under way in other replicas count towards a
 * receiver's limit.
 */
async function leaseDue(queries: Queries, owner: string, query: LeaseQuery): Promise<Lease> {
  const { nowMs, leasedUntilMs, limit, limitPerReceiver } = query
  await freeLeasesOfDead(queries, owner, nowMs)
  const underWay = await countUnderWay(queries, owner, query)
  const found = await all<DueRow>(queries, DUE, [nowMs, Math.min(limit, limitPerReceiver)])
  const due = withinLimits(found, underWay, limitPerReceiver)
  const chosen = chooseDue(due, underWay, limit)
  const { ids, isCut } = cut(chosen, found)
  const rows =
    ids.length === 0
      ? []
      : await all<OutboxRow>(
          queries,
          `update outbox set next_attempt_ms = $2, leased_until_ms = $2, lease_owner = $3 where id = any($1) returning *`,
          [ids, leasedUntilMs, owner],
        )
  const order = new Map(ids.map((id, index) => [id, index]))
  const messages = rows
    .toSorted((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0))
    .map(toStoredMessage)
  const next = await first<{ due: number | null }>(queries, NEXT, [nowMs])
  const nextDueMs = isCut ? nowMs + NEXT_LEASE_MS : (next?.due ?? undefined)
  return { messages, nextDueMs, isMoreDue: true }
}

/** Releases the leases of replicas that are gone. */
async function freeLeasesOfDead(queries: Queries, owner: string, nowMs: number): Promise<void> {
  await run(
    queries,
    `update outbox set next_attempt_ms = least(next_attempt_ms, $1), leased_until_ms = null, lease_owner = null
     where lease_owner is not null and lease_owner <> $2 and state = 'pending' and not exists (
       select 1 from leases where kind = '${REPLICA}' and key = lease_owner and until > clock_timestamp())`,
    [nowMs, owner],
  )
}

async function countUnderWay(
  queries: Queries,
  owner: string,
  { nowMs, underWay }: LeaseQuery,
): Promise<Readonly<Record<string, number>>> {
  const counts = { ...underWay }
  const elsewhere = await all<{ receiver: string; messages: number }>(queries, UNDER_WAY_ELSEWHERE, [
    owner,
    nowMs,
  ])
  for (const { receiver, messages } of elsewhere) counts[receiver] = (counts[receiver] ?? 0) + messages
  return counts
}

function withinLimits(
  found: readonly DueRow[],
  underWay: Readonly<Record<string, number>>,
  limitPerReceiver: number,
): DueRow[] {
  const taken = new Map<string, number>()
  return found.filter(({ receiver }) => {
    const others = taken.get(receiver) ?? underWay[receiver] ?? 0
    taken.set(receiver, others + 1)
    return others < limitPerReceiver
  })
}

/** Limits the chosen messages by the length of their bodies. The last one may exceed the limit. */
function cut(
  chosen: readonly number[],
  found: readonly DueRow[],
): { readonly ids: readonly number[]; readonly isCut: boolean } {
  const lengths = new Map(found.map(({ id, length }) => [id, length]))
  let total = 0
  const end = chosen.findIndex((id) => {
    if (total > MAX_LEASED_LENGTH) return true
    total += lengths.get(id) ?? 0
    return false
  })
  return end === -1 ? { ids: chosen, isCut: false } : { ids: chosen.slice(0, end), isCut: true }
}
