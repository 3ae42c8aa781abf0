import { timeOrderedId } from '../../../lib/time-ordered-id.js'
import type { OutboxMessage, OutboxRepository, OutboxState } from '../../ports/outbox-store.js'
import { toStoredMessage } from '../../tables/outbox-table.js'
import type { OutboxRow } from '../../tables/outbox-table.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'
import { freeLeasesOfDead, leaseDue } from './lease-messages.js'

/** The outbox in a transaction of one replica, `owner`. */
export function makeOutboxRepository(queries: Queries, owner: string): OutboxRepository {
  return {
    enqueue: (message) => enqueue(queries, message, `msg_${timeOrderedId(message.createdMs)}`),
    lease: (query) => leaseDue(queries, owner, query),
    record: async ({ id, state, attempts, nextAttemptMs, lastStatus, lastError, settledMs }) => {
      // Who has lost the lease to another replica may still say that it was delivered, so that it is not sent again, and nothing else.
      const changed = await run(
        queries,
        `update outbox set state = $2, attempts = $3, next_attempt_ms = $4, leased_until_ms = null, lease_owner = null,
           last_status = $5, last_error = $6, settled_ms = $7
         where id = $1 and state = 'pending' and (lease_owner is null or lease_owner = $8 or $2 = 'delivered')`,
        [
          id,
          state,
          attempts,
          Math.ceil(nextAttemptMs),
          lastStatus ?? null,
          lastError ?? null,
          settledMs ?? null,
          owner,
        ],
      )
      return changed > 0
    },
    releaseLeases: (nowMs) => freeLeasesOfDead(queries, owner, nowMs),
    limitWaits: async ({ nextAttemptMs, leasedUntilMs }) => {
      const latest = 'case when leased_until_ms is null then $1::bigint else $2::bigint end'
      await run(
        queries,
        `update outbox set next_attempt_ms = ${latest},
           leased_until_ms = case when leased_until_ms is null then null else $2::bigint end
         where state = 'pending' and next_attempt_ms > ${latest}`,
        [Math.ceil(nextAttemptMs), Math.ceil(leasedUntilMs)],
      )
    },
    find: async (id) => {
      const row = await first<OutboxRow>(queries, 'select * from outbox where id = $1', [id])
      return row && toStoredMessage(row)
    },
    statesOf: async (subject) => {
      const rows = await all<{ state: OutboxState }>(queries, 'select state from outbox where subject = $1', [
        subject,
      ])
      return rows.map(({ state }) => state)
    },
    restart: async (id, nowMs) => {
      await run(
        queries,
        `update outbox set state = 'pending', attempts = 0, tried_since_ms = $2, next_attempt_ms = $2,
           leased_until_ms = null, lease_owner = null, settled_ms = null where id = $1`,
        [id, nowMs],
      )
    },
    deleteSettledBefore: (timeMs, limit) =>
      run(queries, 'delete from outbox where id in (select id from outbox where settled_ms < $1 limit $2)', [
        timeMs,
        limit,
      ]),
  }
}

async function enqueue(
  queries: Queries,
  { topic, url, body, headers, createdMs, ...about }: OutboxMessage,
  webhookId: string,
): Promise<number> {
  const row = await first<{ id: number }>(
    queries,
    `insert into outbox (webhook_id, topic, url, receiver, headers, body, subject, application, execution_id, state, attempts,
       created_ms, tried_since_ms, next_attempt_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', 0, $10, $10, $10) returning id`,
    [
      webhookId,
      topic,
      url,
      new URL(url).origin,
      headers === undefined ? null : JSON.stringify(headers),
      body,
      about.subject ?? null,
      about.application ?? null,
      about.executionId ?? null,
      createdMs,
    ],
  )
  return row?.id ?? 0
}
