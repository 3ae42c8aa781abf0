import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'

interface EventOfRecord {
  readonly eventId: string
  readonly seq: number
}

/** The table that finds records by the ids of their events. */
export interface EventKeys {
  /** The record of an event. */
  find(eventId: string): number | undefined
  /** Adds an event unless it is there. */
  note(eventId: string, seq: number): void
  /** Removes an event whose record is removed. */
  drop(eventId: string): void
  /** The same events in the order of the table. */
  inOrder(events: readonly EventOfRecord[]): EventOfRecord[]
}

const KEY_BYTES = 6

/**
 * Keys are the first 48 bits of an id's SHA-256, or the next free number where two ids share them: a table of such numbers stays
 * small enough to be in memory where an index over the ids would not.
 */
export function makeEventKeys(database: Database): EventKeys {
  const select = database.prepare<[number], { seq: number; event_id: string | null }>(
    'select keys.seq, audit.event_id from audit_event_keys as keys left join audit using (seq) where event_key = ?',
  )
  const insert = database.prepare<[number, number]>(
    'insert into audit_event_keys (event_key, seq) values (?, ?)',
  )
  const remove = database.prepare<[number]>('delete from audit_event_keys where event_key = ?')
  const locate = (eventId: string): { readonly key: number; readonly seq: number | undefined } => {
    for (let key = firstKey(eventId); ; key += 1) {
      const row = select.get(key)
      if (row === undefined) return { key, seq: undefined }
      if (row.event_id === eventId) return { key, seq: row.seq }
    }
  }
  return {
    find: (eventId) => locate(eventId).seq,
    note: (eventId, recordSeq) => {
      const { key, seq } = locate(eventId)
      if (seq === undefined) insert.run(key, recordSeq)
    },
    drop: (eventId) => {
      const { key, seq } = locate(eventId)
      if (seq !== undefined) remove.run(key)
    },
    inOrder: (events) =>
      events
        .map((event) => ({ event, key: firstKey(event.eventId) }))
        .sort((a, b) => a.key - b.key)
        .map(({ event }) => event),
  }
}

function firstKey(eventId: string): number {
  return hash('sha256', eventId, 'buffer').readUIntBE(0, KEY_BYTES)
}
