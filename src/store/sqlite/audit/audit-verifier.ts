import type { Database } from 'better-sqlite3'
import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { expectedHash, HASH_BYTES, LINKED_BLOB } from '../../trail/audit-chain.js'

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
export type CheckChain = (from: ChainEnd, limit: number, places: readonly number[]) => ChainCheck

/** Reads each record as one blob and hashes it once. */
export function makeVerifier(database: Database): CheckChain {
  const select = database
    .prepare<[number, number]>(`select seq, ${LINKED_BLOB} from audit where seq > ? order by seq limit ?`)
    .raw(true)
  return (from, limit, places) => {
    const wanted = new Set(places)
    const links: ChainEnd[] = []
    const stored = Buffer.alloc(HASH_BYTES)
    let previous: Uint8Array = Buffer.from(from.hash, 'hex')
    let at = from.seq
    let broken: ChainCheck['broken']
    for (const [seq, blob] of select.iterate(from.seq, limit) as Iterable<[number, Buffer]>) {
      blob.copy(stored, 0, 0, HASH_BYTES)
      broken = gap(at, seq)
      if (broken !== undefined) break
      const expected = expectedHash(previous, blob)
      if (!expected.equals(stored)) {
        broken = { seq, problem: 'it was changed: its content does not give its hash' }
        break
      }
      previous = expected
      at = seq
      if (wanted.has(seq)) links.push({ seq, hash: expected.toString('hex') })
    }
    const end = { seq: at, hash: Buffer.from(previous).toString('hex') }
    return { end, checked: at - from.seq, broken, links }
  }
}

function gap(at: number, seq: number): ChainCheck['broken'] {
  if (seq === at + 1) return undefined
  const missing = seq === at + 2 ? 'it is missing' : `it is missing, and all others up to record ${seq - 1}`
  return { seq: at + 1, problem: missing }
}
