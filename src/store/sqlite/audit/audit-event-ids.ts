import type { Database, Statement } from 'better-sqlite3'
import { selectEnd } from './audit-end.js'
import type { StoredEnd } from '../../trail/audit-chain.js'
import { eventKey, makeEventKeys } from './audit-event-keys.js'
import type { EventKeys, KeyedEvent } from './audit-event-keys.js'
import type { CachingContext } from '../calls/write-connection.js'

/** Records by event id: the newest in memory, all others in the table of keys. */
export interface EventIds extends CachingContext {
  /** Returns the record of an event. */
  find(eventId: string): number | undefined
  note(eventId: string, seq: number): void
  /** Moves at most `limit` ids from memory to the table. Returns whether more are left. */
  settle(limit: number): boolean
  /** Removes an event whose record is deleted. */
  drop(eventId: string): void
}

/**
 * Ids are in random order, so inserting each one would write a page of the table, which grows with
 * the trail. They are collected and moved in the order of the table.
 */
export function makeEventIds(database: Database): EventIds {
  return new GatheredIds(database)
}

class GatheredIds implements EventIds {
  readonly #keys: EventKeys
  readonly #readEnd: () => StoredEnd
  readonly #selectNewest: Statement<[], Omit<KeyedEvent, 'key'>>
  readonly #selectSettled: Statement<[], { keys_seq: number }>
  readonly #advance: Statement<[number]>
  /** Ids that are not in the table yet, in the order of their records; undefined until loaded. */
  #newest: KeyedEvent[] | undefined
  readonly #seqs = new Map<string, number>()
  /** Ids that are being moved, in the order of the table, up to the record `throughSeq`. */
  #moving: { readonly ids: KeyedEvent[]; readonly throughSeq: number } | undefined
  #settledSeq = 0
  #hasDropped = false

  constructor(database: Database) {
    this.#keys = makeEventKeys(database)
    this.#readEnd = selectEnd(database)
    this.#selectNewest = database.prepare(
      `select event_id as eventId, seq from audit
       where seq > (select keys_seq from audit_progress) and event_id is not null order by seq`,
    )
    this.#selectSettled = database.prepare('select keys_seq from audit_progress')
    this.#advance = database.prepare('update audit_progress set keys_seq = max(keys_seq, ?)')
  }

  find(eventId: string): number | undefined {
    this.#loaded()
    return this.#seqs.get(eventId) ?? this.#keys.find(eventId)
  }

  note(eventId: string, seq: number): void {
    // Hashed now, since hashing 20,000 ids at once would block writers.
    this.#loaded().push({ eventId, seq, key: eventKey(eventId) })
    this.#seqs.set(eventId, seq)
  }

  settle(limit: number): boolean {
    const newest = this.#loaded()
    // Includes records without an event. Ids after `throughSeq` are loaded at the next start.
    this.#moving ??= {
      ids: newest.toSorted((one, other) => one.key - other.key),
      throughSeq: this.#readEnd().seq,
    }
    const { ids, throughSeq } = this.#moving
    for (const event of ids.splice(0, limit)) this.#keys.note(event)
    if (ids.length > 0) return true
    this.#advance.run(throughSeq)
    this.#settledSeq = throughSeq
    this.#moving = undefined
    const rest = newest.findIndex(({ seq }) => seq > throughSeq)
    const moved = newest.splice(0, rest === -1 ? newest.length : rest)
    for (const { eventId } of moved) this.#seqs.delete(eventId)
    return false
  }

  drop(eventId: string): void {
    if (this.#seqs.delete(eventId)) this.#hasDropped = true
    this.#keys.drop(eventId)
  }

  clearCaches(): void {
    // An id that is moved twice is skipped.
    this.#moving = undefined
    const settledSeq = this.#selectSettled.get()?.keys_seq ?? 0
    if (settledSeq < this.#settledSeq || this.#hasDropped) {
      // Undone removals may have restored ids that memory has dropped: reload from the table.
      this.#newest = undefined
      this.#seqs.clear()
      this.#settledSeq = settledSeq
      this.#hasDropped = false
      return
    }
    const { seq: endSeq } = this.#readEnd()
    const newest = this.#newest ?? []
    while ((newest.at(-1)?.seq ?? 0) > endSeq) this.#seqs.delete(newest.pop()?.eventId ?? '')
  }

  #loaded(): KeyedEvent[] {
    if (this.#newest !== undefined) return this.#newest
    this.#newest = this.#selectNewest.all().map((noted) => ({ ...noted, key: eventKey(noted.eventId) }))
    for (const { eventId, seq } of this.#newest) this.#seqs.set(eventId, seq)
    return this.#newest
  }
}
