import { AppError } from '../errors/app-error.js'
import type { AuditFilter, AuditPosition } from '../store/ports/audit-store.js'
import type { Reader } from '../store/ports/readers.js'
import { readPage, readTextPage } from './audit-operations.js'
import { toRecordView } from './record-view.js'
import type { RecordView } from './record-view.js'

/** Query for a page. `cursor` is the `nextCursor` of the previous page. */
export interface TrailQuery {
  readonly filter: AuditFilter
  /** Words that the body must contain. */
  readonly text?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * A page, newest first: by event time, or in a text search by storage. In a text search, a page
 * that is not full may have a `nextCursor`.
 */
export interface TrailPage {
  readonly records: readonly RecordView[]
  readonly nextCursor?: string
}

/** Returns the matching records. Raises `invalid` for a bad cursor and for a text without words. */
export async function searchTrail(reader: Reader, query: TrailQuery): Promise<TrailPage> {
  return query.text === undefined
    ? await searchColumns(reader, query)
    : await searchText(reader, query, query.text)
}

async function searchColumns(reader: Reader, { filter, limit, cursor }: TrailQuery): Promise<TrailPage> {
  const after = cursor === undefined ? undefined : decodePosition(cursor)
  const heads = await reader.run(readPage, { filter, order: 'newest_first', limit, after })
  const last = heads.length < limit ? undefined : heads.at(-1)
  return {
    records: heads.map(toRecordView),
    ...(last !== undefined && { nextCursor: encode(`${last.timeMs}.${last.seq}`) }),
  }
}

async function searchText(
  reader: Reader,
  { filter, limit, cursor }: TrailQuery,
  text: string,
): Promise<TrailPage> {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
  if (words.length === 0) throw new AppError('invalid', 'q: must hold a word to search for')
  const beforeSeq = cursor === undefined ? undefined : decodeSeq(cursor)
  const { records, nextSeq } = await reader.run(readTextPage, { filter, words, limit, beforeSeq })
  return {
    records: records.map(toRecordView),
    ...(nextSeq !== undefined && { nextCursor: encode(String(nextSeq)) }),
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function decodePosition(cursor: string): AuditPosition {
  const match = /^(-?\d{1,16})\.(\d{1,16})$/.exec(decode(cursor))
  if (match === null) throw badCursor()
  return { timeMs: Number(match[1]), seq: Number(match[2]) }
}

function decodeSeq(cursor: string): number {
  const text = decode(cursor)
  if (!/^\d{1,16}$/.test(text)) throw badCursor()
  return Number(text)
}

function decode(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('latin1')
}

function badCursor(): AppError {
  return new AppError('invalid', 'cursor: must be the nextCursor of an earlier page of the same query')
}
