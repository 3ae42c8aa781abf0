import { hash } from 'node:crypto'
import type { AuditHeadRow } from '../tables/audit-table.js'

/** The columns that a link covers, in this order; the body, as it is stored, follows them. */
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

/** The columns of a record that is about to be linked. */
export type LinkedRow = Pick<AuditHeadRow, (typeof LINKED_COLUMNS)[number]>

/** Control characters: none is ever in a column, so that what a link covers can be read in one way only. */
export const END_OF_COLUMN = 31
export const NO_VALUE = 30

const END_TEXT = String.fromCharCode(END_OF_COLUMN)
const NO_VALUE_TEXT = String.fromCharCode(NO_VALUE)
export const HASH_BYTES = 32

/** What the first record of a trail is linked to. */
export const CHAIN_START = Buffer.alloc(HASH_BYTES)

/** The end of the trail as it is stored. */
export interface StoredEnd {
  readonly seq: number
  readonly recordedMs: number
  readonly hash: Uint8Array
}

/** The end of a trail that has had no records yet. */
export const TRAIL_START: StoredEnd = { seq: 0, recordedMs: 0, hash: CHAIN_START }

/** For a select: the stored link, then all that it covers, as one blob. */
export const LINKED_BLOB = `cast(hash || ${LINKED_COLUMNS.map(
  (name) => `coalesce(${name}, char(${NO_VALUE})) || char(${END_OF_COLUMN})`,
).join(' || ')} || body as blob)`

/**
 * The link of a record: SHA-256 over the link before it, then each column as text followed by U+001F (U+001E stands for one
 * without a value), then the stored body.
 */
export function chainHash(previous: Uint8Array, row: LinkedRow, body: Uint8Array): Buffer {
  let columns = ''
  for (const name of LINKED_COLUMNS) columns += `${row[name] ?? NO_VALUE_TEXT}${END_TEXT}`
  return hash('sha256', Buffer.concat([previous, Buffer.from(columns), body]), 'buffer')
}

/**
 * The link that a record should have, of the blob that `LINKED_BLOB` selects. Takes the blob's memory: its first bytes, the
 * stored link, are written over with the link before. Links are texts of 32 Latin-1 characters here, one for each byte: a buffer for
 * each would cost as much as the hash.
 */
export function expectedLink(previous: string, blob: Buffer): string {
  blob.write(previous, 0, HASH_BYTES, 'latin1')
  return hash('sha256', blob, 'binary')
}

/** The link that is stored with a record, of the blob that `LINKED_BLOB` selects, as `expectedLink` returns it. */
export function storedLink(blob: Buffer): string {
  return blob.toString('latin1', 0, HASH_BYTES)
}
