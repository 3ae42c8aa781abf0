import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'

/** The record of an event, with the place that the table has for it. */
export interface KeyedEvent {
  readonly eventId: string
  readonly seq: number
  readonly key: number
}

/** The table that finds records by the ids of their events. */
export interface EventKeys {
  /** The record of an event. */
  find(eventId: string): number | undefined
  /** Adds an event unless it is there. */
  note(event: KeyedEvent): void
  /** Removes an event whose record is removed. */
  drop(eventId: string): void
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

/** Where the table has an event, or the first place after it that is free. */
export function eventKey(eventId: string): number {
  return hash('sha256', eventId, 'buffer').readUIntBE(0, KEY_BYTES)
}
