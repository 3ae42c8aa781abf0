import type { ChainCheck, ChainEnd } from '../ports/audit-store.js'
import { expectedLink, storedLink } from './audit-chain.js'

/**
 * Follows the chain from a link over records in order, hashes each record once, and collects the
 * links at the given positions.
 */
export class ChainWalk {
  readonly #from: ChainEnd
  readonly #wanted: ReadonlySet<number>
  readonly #links: ChainEnd[] = []
  #previous: string
  #at: number
  #broken: ChainCheck['broken']

  constructor(from: ChainEnd, positions: readonly number[]) {
    this.#from = from
    this.#wanted = new Set(positions)
    this.#previous = Buffer.from(from.hash, 'hex').toString('latin1')
    this.#at = from.seq
  }

  /** Checks the next record. Overwrites the first bytes of its blob. */
  add(seq: number, blob: Buffer): void {
    if (this.#broken !== undefined) return
    this.#broken = gap(this.#at, seq)
    if (this.#broken !== undefined) return
    const stored = storedLink(blob)
    const expected = expectedLink(this.#previous, blob)
    if (expected !== stored) {
      this.#broken = { seq, problem: 'it was changed: its content does not match its hash' }
      return
    }
    this.#previous = expected
    this.#at = seq
    if (this.#wanted.has(seq)) this.#links.push({ seq, hash: toHex(expected) })
  }

  check(): ChainCheck {
    const end = { seq: this.#at, hash: toHex(this.#previous) }
    return { end, checked: this.#at - this.#from.seq, broken: this.#broken, links: this.#links }
  }
}

function gap(at: number, seq: number): ChainCheck['broken'] {
  if (seq === at + 1) return undefined
  const missing = seq === at + 2 ? 'it is missing' : `it is missing, and all others up to record ${seq - 1}`
  return { seq: at + 1, problem: missing }
}

function toHex(link: string): string {
  return Buffer.from(link, 'latin1').toString('hex')
}
