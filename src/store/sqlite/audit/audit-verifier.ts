import type { Database } from 'better-sqlite3'
import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { LINKED_BLOB } from '../../trail/audit-chain.js'
import { followChain } from '../../trail/follow-chain.js'
import type { LinkedBlob } from '../../trail/follow-chain.js'

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
export type CheckChain = (from: ChainEnd, limit: number, places: readonly number[]) => ChainCheck

/** Reads each record as one blob. */
export function makeVerifier(database: Database): CheckChain {
  const select = database
    .prepare<[number, number]>(`select seq, ${LINKED_BLOB} from audit where seq > ? order by seq limit ?`)
    .raw(true)
  return (from, limit, places) =>
    followChain(from, select.iterate(from.seq, limit) as Iterable<LinkedBlob>, places)
}
