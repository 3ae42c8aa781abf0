import type { EventQueue } from '../../ports/registry-store.js'
import type { Queries } from '../engine/session.js'
import { all, run } from '../engine/statements.js'

/** The waiting events in a transaction. */
export function makeEventQueue(queries: Queries): EventQueue {
  return {
    add: async (seq) => {
      await run(queries, 'insert into event_queue (seq) values ($1) on conflict do nothing', [seq])
    },
    waiting: async (limit) => {
      const rows = await all<{ seq: number }>(queries, 'select seq from event_queue order by seq limit $1', [
        limit,
      ])
      return rows.map(({ seq }) => seq)
    },
    remove: async (seq) => {
      await run(queries, 'delete from event_queue where seq = $1', [seq])
    },
  }
}
