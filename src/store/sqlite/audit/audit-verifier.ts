import type { Database } from 'better-sqlite3'
import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { followChain } from '../../trail/follow-chain.js'
import { makeLinkedBlobReader } from './read-linked-blobs.js'

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
export type CheckChain = (from: ChainEnd, limit: number, places: readonly number[]) => ChainCheck

/** Follows it on any connection. */
export function makeVerifier(database: Database): CheckChain {
  const read = makeLinkedBlobReader(database)
  return (from, limit, places) => followChain(from, read(from.seq, limit), places)
}
