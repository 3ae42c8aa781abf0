import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'

/** An event's record, with its key in the table. */
export interface KeyedEvent {
  readonly eventId: string
  readonly seq: number
  readonly key: number
}

/** Finds records by event id. */
export interface EventKeys {
  /** Returns the record of an event. */
  find(eventId: string): number | undefined
  /** Adds an event if it is missing. */
  note(event: KeyedEvent): void
  /** Removes an event whose record is deleted. */
  drop(eventId: string): void
}

const KEY_BYTES = 6

/**
 * A key is the first 48 bits of the id's SHA-256, or the next free number on a collision. A table
 * of such numbers fits in memory where an index of the ids would not.
 */
export function makeEventKeys(database: Database): EventKeys {
  const select = database.prepare<[number], { seq: number; event_id: string | null }>(
    'select keys.seq, audit.event_id from audit_event_keys as keys left join audit using (seq) where event_key = ?',
  )
  const insert = database.prepare<[number, number]>(
    'insert into audit_event_keys (event_key, seq) values (?, ?)',
  )
  const remove = database.prepare<[number]>('delete from audit_event_keys where event_key = ?')
  const locate = (eventId: string, from = eventKey(eventId)): { key: number; seq: number | undefined } => {
    for (let key = from; ; key += 1) {
      const row = select.get(key)
      if (row === undefined) return { key, seq: undefined }
      if (row.event_id === eventId) return { key, seq: row.seq }
    }
  }
  return {
    find: (eventId) => locate(eventId).seq,
    note: (event) => {
      const { key, seq } = locate(event.eventId, event.key)
      if (seq === undefined) insert.run(key, event.seq)
    },
    drop: (eventId) => {
      const { key, seq } = locate(eventId)
      if (seq !== undefined) remove.run(key)
    },
  }
}

/** Returns the key of an event. On a collision the event has a later one. */
export function eventKey(eventId: string): number {
  return hash('sha256', eventId, 'buffer').readUIntBE(0, KEY_BYTES)
}
