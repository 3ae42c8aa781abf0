import type { Database } from 'better-sqlite3'
import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { LINKED_BLOB } from '../../trail/audit-chain.js'
import { followChain } from '../../trail/follow-chain.js'
import type { LinkedBlob } from '../../trail/follow-chain.js'

/** Reads at most `limit` records after a position, in order. */
export type ReadLinkedBlobs = (afterSeq: number, limit: number) => Iterable<LinkedBlob>

/** Number of records fetched as one value: a row and a buffer per record would double the cost. */
const RECORDS_PER_QUERY = 64
/** Size of bodies above which records are fetched one by one. */
const MAX_JOINED_BYTES = 4 * 1024 * 1024

type Joined = readonly [joined: Buffer | null, seqs: string, lengths: string]

/** Makes a reader of linked blobs. The caller may overwrite a blob. */
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
    for (let left = limit; left > 0; left -= RECORDS_PER_QUERY) {
      const count = Math.min(left, RECORDS_PER_QUERY)
      const isLarge = (bodyBytes.get(after, count) ?? 0) > MAX_JOINED_BYTES
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

/** A record with an unexpected null has an empty blob, which matches no link. */
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

/**
 * Checks the chain from a link over at most `limit` records, and returns the links at the given
 * positions.
 */
type CheckChain = (from: ChainEnd, limit: number, positions: readonly number[]) => ChainCheck

/** Makes the check on any connection. */
export function makeVerifier(database: Database): CheckChain {
  const read = makeLinkedBlobReader(database)
  return (from, limit, positions) => followChain(from, read(from.seq, limit), positions)
}
