import type { Database } from 'better-sqlite3'
import type { EventQueue } from '../../ports/registry-store.js'

/** The waiting events on a connection that writes. */
export function makeEventQueue(database: Database): EventQueue {
  const insert = database.prepare<[number]>('insert or ignore into event_queue (seq) values (?)')
  const select = database
    .prepare<[number], number>('select seq from event_queue order by seq limit ?')
    .pluck(true)
  const remove = database.prepare<[number]>('delete from event_queue where seq = ?')
  return {
    add: (seq) => {
      insert.run(seq)
      return Promise.resolve()
    },
    waiting: (limit) => Promise.resolve(select.all(limit)),
    remove: (seq) => {
      remove.run(seq)
      return Promise.resolve()
    },
  }
}
