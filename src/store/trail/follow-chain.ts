import type { ChainCheck, ChainEnd } from '../ports/audit-store.js'
import { expectedHash, HASH_BYTES } from './audit-chain.js'

/** A record's place, and as one blob its stored link and all that the link covers. */
export type LinkedBlob = readonly [seq: number, blob: Buffer]

/**
 * Follows the chain from a link over records in the order of their places, hashing each once, and notes the links at the places
 * asked for. Writes over the first bytes of the blobs.
 */
export function followChain(
  from: ChainEnd,
  blobs: Iterable<LinkedBlob>,
  places: readonly number[],
): ChainCheck {
  const wanted = new Set(places)
  const links: ChainEnd[] = []
  const stored = Buffer.alloc(HASH_BYTES)
  let previous: Uint8Array = Buffer.from(from.hash, 'hex')
  let at = from.seq
  let broken: ChainCheck['broken']
  for (const [seq, blob] of blobs) {
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

function gap(at: number, seq: number): ChainCheck['broken'] {
  if (seq === at + 1) return undefined
  const missing = seq === at + 2 ? 'it is missing' : `it is missing, and all others up to record ${seq - 1}`
  return { seq: at + 1, problem: missing }
}
