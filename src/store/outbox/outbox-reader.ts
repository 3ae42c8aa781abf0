import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { OutboxReader } from '../ports/outbox-store.js'
import { toStoredMessage } from '../tables/outbox-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'

/** Reads the outbox on any connection. */
export function makeOutboxReader(db: Kysely<ServiceDatabase>): OutboxReader {
  return {
    list: async ({ state, subject, fromMs, toMs, beforeId, limit }) => {
      let query = db.selectFrom('outbox').selectAll().orderBy('id', 'desc').limit(limit)
      if (state !== undefined) query = query.where('state', '=', state)
      if (subject !== undefined) query = query.where('subject', '=', subject)
      if (fromMs !== undefined) query = query.where('created_ms', '>=', fromMs)
      if (toMs !== undefined) query = query.where('created_ms', '<', toMs)
      if (beforeId !== undefined) query = query.where('id', '<', beforeId)
      return (await query.execute()).map(toStoredMessage)
    },
    find: async (id) => {
      const row = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : toStoredMessage(row)
    },
    hasPending: async () => {
      const pending = db.selectFrom('outbox').select('id').where('state', '=', sql.lit('pending')).limit(1)
      return (await pending.executeTakeFirst()) !== undefined
    },
    oldestSettledMs: async () => {
      const settled = db.selectFrom('outbox').select('settled_ms').where('settled_ms', 'is not', null)
      return (await settled.orderBy('settled_ms').limit(1).executeTakeFirst())?.settled_ms ?? undefined
    },
    count: async () => {
      const rows = await db
        .selectFrom('outbox')
        .select(({ fn }) => ['state', fn.countAll<number>().as('messages')])
        .groupBy('state')
        .execute()
      const counts = { pending: 0, delivered: 0, given_up: 0 }
      for (const { state, messages } of rows) counts[state] = messages
      return counts
    },
  }
}
