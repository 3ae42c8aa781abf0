import type { Database } from 'better-sqlite3'
import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { LINKED_BLOB } from '../../trail/audit-chain.js'
import { followChain } from '../../trail/follow-chain.js'
import type { LinkedBlob } from '../../trail/follow-chain.js'

/** Reads records behind a place, at most so many, in the order of their places. */
export type ReadLinkedBlobs = (afterSeq: number, limit: number) => Iterable<LinkedBlob>

/** Records that are fetched as one value: a row and a buffer for each would cost as much as all else. */
const RECORDS_AT_ONCE = 64
/** With larger bodies than this together they come one by one. */
const MOST_BYTES = 4 * 1024 * 1024

type Joined = readonly [joined: Buffer | null, seqs: string, lengths: string]

/** Reads on any connection; a blob may be written over. */
export function makeLinkedBlobReader(database: Database): ReadLinkedBlobs {
  const select = `select seq, ${LINKED_BLOB} as blob from audit where seq > ? order by seq limit ?`
  const selectOne = database.prepare<[number, number], [number, Buffer]>(select).raw(true)
  const selectJoined = database
    .prepare<[number, number], Joined>(
      `select cast(group_concat(blob, '') as blob), json_group_array(seq), json_group_array(length(blob)) from (${select})`,
    )
    .raw(true)
  const bodyBytes = database
    .prepare<[number, number], number | null>(
      'select sum(length(body)) from (select body from audit where seq > ? order by seq limit ?)',
    )
    .pluck(true)
  return function* (afterSeq, limit) {
    let after = afterSeq
    for (let left = limit; left > 0; left -= RECORDS_AT_ONCE) {
      const count = Math.min(left, RECORDS_AT_ONCE)
      const isLarge = (bodyBytes.get(after, count) ?? 0) > MOST_BYTES
      const found = isLarge ? selectOne.iterate(after, count) : cut(selectJoined.get(after, count))
      let read = 0
      for (const record of found) {
        yield record
        after = record[0]
        read += 1
      }
      if (read < count) return
    }
  }
}

/** A record in which something is null has no blob, which no link fits. */
function* cut([joined, seqs, lengths]: Joined = [null, '[]', '[]']): Iterable<LinkedBlob> {
  const blobs = joined ?? Buffer.alloc(0)
  const lengthOf = JSON.parse(lengths) as (number | null)[]
  let start = 0
  for (const [index, seq] of (JSON.parse(seqs) as number[]).entries()) {
    const end = start + (lengthOf[index] ?? 0)
    yield [seq, blobs.subarray(start, end)]
    start = end
  }
}

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
type CheckChain = (from: ChainEnd, limit: number, places: readonly number[]) => ChainCheck

/** Follows it on any connection. */
export function makeVerifier(database: Database): CheckChain {
  const read = makeLinkedBlobReader(database)
  return (from, limit, places) => followChain(from, read(from.seq, limit), places)
}
