import { hash } from 'node:crypto'
import type { AuditHeadRow } from '../tables/audit-table.js'

/** Columns that a link covers, in this order. The stored body follows them. */
export const LINKED_COLUMNS = [
  'seq',
  'time_ms',
  'recorded_ms',
  'source',
  'kind',
  'application',
  'pipeline',
  'execution_id',
  'stage',
  'user',
  'status',
  'origin',
  'event_id',
  'body_bytes',
] as const satisfies readonly (keyof AuditHeadRow)[]

/** The columns of a record to link. */
export type LinkedRow = Pick<AuditHeadRow, (typeof LINKED_COLUMNS)[number]>

/**
 * Separator after a column, and placeholder for null. Columns contain no control characters, so the
 * covered data can be read in one way only.
 */
export const END_OF_COLUMN = 31
export const NO_VALUE = 30

const END_TEXT = String.fromCharCode(END_OF_COLUMN)
const NO_VALUE_TEXT = String.fromCharCode(NO_VALUE)
const HASH_BYTES = 32

/** Link before the first record of a trail. */
const CHAIN_START = Buffer.alloc(HASH_BYTES)

/** The stored end of the trail. */
export interface StoredEnd {
  readonly seq: number
  readonly recordedMs: number
  readonly hash: Uint8Array
}

/** The end of an empty trail. */
export const TRAIL_START: StoredEnd = { seq: 0, recordedMs: 0, hash: CHAIN_START }

/** SQL expression of the stored link and all data that it covers, as one blob. */
export const LINKED_BLOB = `cast(hash || ${LINKED_COLUMNS.map(
  (name) => `coalesce(${name}, char(${NO_VALUE})) || char(${END_OF_COLUMN})`,
).join(' || ')} || body as blob)`

/**
 * Computes the link of a record: SHA-256 of the previous link, each column as text followed by
 * U+001F (U+001E for null), and the stored body.
 */
export function chainHash(previous: Uint8Array, row: LinkedRow, body: Uint8Array): Buffer {
  let columns = ''
  for (const name of LINKED_COLUMNS) columns += `${row[name] ?? NO_VALUE_TEXT}${END_TEXT}`
  return hash('sha256', Buffer.concat([previous, Buffer.from(columns), body]), 'buffer')
}

/**
 * Computes the correct link of a record from the blob of `LINKED_BLOB`. Overwrites the first bytes
 * of the blob, the stored link, with the previous link. Links are strings of 32 Latin-1 characters,
 * one per byte, since a buffer per link would cost as much as the hash.
 */
export function expectedLink(previous: string, blob: Buffer): string {
  blob.write(previous, 0, HASH_BYTES, 'latin1')
  return hash('sha256', blob, 'binary')
}

/**
 * Returns the stored link of a record from the blob of `LINKED_BLOB`, in the form of
 * `expectedLink`.
 */
export function storedLink(blob: Buffer): string {
  return blob.toString('latin1', 0, HASH_BYTES)
}
