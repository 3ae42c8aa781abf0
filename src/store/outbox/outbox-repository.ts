import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { timeOrderedId } from '../../lib/time-ordered-id.js'
import type { OutboxMessage, OutboxRepository } from '../ports/outbox-store.js'
import { prepareQuery, rowOf } from '../queries/prepared-query.js'
import { NEW_MESSAGE_COLUMNS, toStoredMessage } from '../tables/outbox-table.js'
import type { NewMessageRow } from '../tables/outbox-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'

type Db = Kysely<ServiceDatabase>
/** Methods that each engine implements itself, since engines lease messages differently. */
export type EngineMethods = 'lease' | 'record' | 'releaseLeases'

/** Returns a transaction whose messages continue a trace, in a header of each. */
export function continueTrace<T extends { readonly outbox?: OutboxRepository }>(
  transaction: T,
  traceparent: string | undefined,
): T {
  const { outbox } = transaction
  if (traceparent === undefined || outbox === undefined) return transaction
  const enqueue: OutboxRepository['enqueue'] = (message) =>
    outbox.enqueue({ ...message, headers: { ...message.headers, traceparent } })
  return { ...transaction, outbox: { ...outbox, enqueue } }
}

/** Makes the repository of the outbox on a connection that writes, without its leases. */
export function makeOutboxRepository(db: Db): Omit<OutboxRepository, EngineMethods> {
  const insert = prepareQuery(db, (args: NewMessageRow) =>
    db.insertInto('outbox').values(rowOf(args, NEW_MESSAGE_COLUMNS)).returning('id'),
  )
  const message = prepareQuery(db, ({ id }: { id: number }) =>
    db.selectFrom('outbox').selectAll().where('id', '=', id),
  )
  const states = prepareQuery(db, ({ subject }: { subject: string }) =>
    db.selectFrom('outbox').select('state').where('subject', '=', subject),
  )
  return {
    enqueue: async (added) => {
      const row = await insert.first(newRow(added, `msg_${timeOrderedId(added.createdMs)}`))
      return row?.id ?? 0
    },
    limitWaits: async ({ nextAttemptMs, leasedUntilMs }) => {
      const latest = sql<number>`case when leased_until_ms is null
        then cast(${Math.ceil(nextAttemptMs)} as bigint) else cast(${Math.ceil(leasedUntilMs)} as bigint) end`
      await db
        .updateTable('outbox')
        .set({
          next_attempt_ms: latest,
          leased_until_ms: sql`case when leased_until_ms is null then null else ${latest} end`,
        })
        .where('state', '=', 'pending')
        .where('next_attempt_ms', '>', latest)
        .execute()
    },
    find: async (id) => {
      const row = await message.first({ id })
      return row && toStoredMessage(row)
    },
    statesOf: async (subject) => (await states.all({ subject })).map(({ state }) => state),
    restart: async (id, nowMs) => {
      const restarted = { state: 'pending', attempts: 0, leased_until_ms: null, settled_ms: null } as const
      await db
        .updateTable('outbox')
        .set({ ...restarted, tried_since_ms: nowMs, next_attempt_ms: nowMs })
        .where('id', '=', id)
        .execute()
    },
    deleteSettledBefore: async (timeMs, limit) => {
      const old = db.selectFrom('outbox').select('id').where('settled_ms', '<', timeMs).limit(limit)
      const { numDeletedRows } = await db.deleteFrom('outbox').where('id', 'in', old).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

function newRow(
  { topic, url, body, headers, createdMs, ...about }: OutboxMessage,
  webhookId: string,
): NewMessageRow {
  return {
    webhook_id: webhookId,
    topic,
    url,
    receiver: topic === 'notification' ? url : new URL(url).origin,
    headers: headers === undefined ? null : JSON.stringify(headers),
    body,
    subject: about.subject ?? null,
    application: about.application ?? null,
    execution_id: about.executionId ?? null,
    state: 'pending',
    attempts: 0,
    created_ms: createdMs,
    tried_since_ms: createdMs,
    next_attempt_ms: createdMs,
  }
}
