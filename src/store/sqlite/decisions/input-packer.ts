import { hash } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'

import { GROUP_BYTES, MAX_PIECES, deflatePiece, encodeExtents } from './input-groups.js'
import type { Extent } from './input-groups.js'

/** Bounds of a piece, in bytes. The average of random data is `MIN_PIECE` plus 4 KiB. */
const MIN_PIECE = 2048
const MAX_PIECE = 16_384

/** The top 12 bits of the hash are zero at one position of 4096. */
const BOUNDARY_SHIFT = 20

/** Bytes before a boundary that determine it: older ones are shifted out of the hash. */
const WINDOW = 32

/**
 * A number for each byte, from a fixed generator (mulberry32), since stored pieces are found again
 * by later releases.
 */
const GEAR = new Int32Array(256)

/** Shorter inputs are stored as they are. */
const MIN_PACKED_BYTES = 256
/** Up to this size an input is one part. Longer ones are split, so that edited ones share parts. */
const MAX_WHOLE_BYTES = 8192
/** 132 bits in base64, so that two different parts cannot share a digest even on purpose. */
const DIGEST_CHARS = 22

/** A group whose parts are known. */
interface KnownGroup {
  readonly id: number
  readonly digests: string[]
  /** Number of the last decision that needs it, as stored. */
  neededThrough: number
}

interface KnownPart extends Extent {
  readonly owner: KnownGroup
}

/**
 * Packs inputs into groups. Only parts of the latest `maxGroups` groups are found again: their text
 * stays in the file as long as a decision needs it, so the limit bounds the space of old groups.
 * Used within the transaction that writes the decisions.
 */
export class InputPacker {
  readonly #maxGroups: number
  readonly #parts = new Map<string, KnownPart>()
  readonly #groups: KnownGroup[] = []
  readonly #used = new Set<KnownGroup>()
  readonly #text = Buffer.allocUnsafeSlow(GROUP_BYTES)
  readonly #insertGroup: Statement
  readonly #insertPiece: Statement
  readonly #need: Statement
  readonly #removeUnneeded: Statement
  #open: KnownGroup | undefined
  /** Length of the open group's text, and of its part that is stored. */
  #length = 0
  #storedLength = 0
  #pieces = 0

  constructor(database: Database, maxGroups: number) {
    this.#maxGroups = maxGroups
    this.#insertGroup = database.prepare('insert into input_groups (needed_through) values (?)')
    this.#insertPiece = database.prepare('insert into input_pieces (id, bytes) values (?, ?)')
    this.#need = database.prepare('update input_groups set needed_through = ? where id = ?')
    this.#removeUnneeded = database.prepare('delete from input_groups where needed_through < ?')
  }

  /** Returns the extents of an input as a column; undefined if it is to be stored as it is. */
  pack(input: Uint8Array, seq: number): Uint8Array | undefined {
    if (input.length < MIN_PACKED_BYTES) return undefined
    if (input.length <= MAX_WHOLE_BYTES) return encodeExtents([this.#put(input, seq)])
    const extents: Extent[] = []
    for (let start = 0; start < input.length;) {
      const end = pieceEnd(input, start)
      const { group, offset, length } = this.#put(input.subarray(start, end), seq)
      const last = extents.at(-1)
      const continues = last?.group === group && last.offset + last.length === offset
      if (continues) extents[extents.length - 1] = { ...last, length: last.length + length }
      else extents.push({ group, offset, length })
      start = end
    }
    return encodeExtents(extents)
  }

  /** Stores what is not yet stored. Call it at the end of the transaction. */
  flush(): void {
    this.#storePiece()
    for (const { id, neededThrough } of this.#used) this.#need.run(neededThrough, id)
    this.#used.clear()
  }

  /** Removes groups that only decisions before `firstSeq` need; all if no decision is left. */
  removeBefore(firstSeq: number | null): void {
    const { changes } = this.#removeUnneeded.run(firstSeq ?? Number.MAX_SAFE_INTEGER)
    if (changes === 0) return
    for (const group of [...this.#groups]) {
      if (firstSeq === null || group.neededThrough < firstSeq) this.#forget(group)
    }
  }

  /** Forgets everything, after a transaction that was undone. */
  reset(): void {
    this.#parts.clear()
    this.#groups.length = 0
    this.#used.clear()
    this.#open = undefined
  }

  #put(part: Uint8Array, seq: number): Extent {
    const digest = hash('sha256', part, 'base64').slice(0, DIGEST_CHARS)
    const known = this.#parts.get(digest)
    if (known !== undefined) {
      this.#use(known.owner, seq)
      return known
    }
    const owner = this.#groupFor(part.length, seq)
    const added = { owner, group: owner.id, offset: this.#length, length: part.length }
    this.#text.set(part, this.#length)
    this.#length += part.length
    this.#parts.set(digest, added)
    owner.digests.push(digest)
    this.#use(owner, seq)
    return added
  }

  #use(group: KnownGroup, seq: number): void {
    group.neededThrough = seq
    this.#used.add(group)
  }

  /** Returns the open group, or a new one if the part does not fit. */
  #groupFor(length: number, seq: number): KnownGroup {
    const isFull = this.#length + length > GROUP_BYTES || this.#pieces >= MAX_PIECES - 1
    if (this.#open !== undefined && !isFull) return this.#open
    this.#storePiece()
    const { lastInsertRowid } = this.#insertGroup.run(seq)
    const group = { id: Number(lastInsertRowid), digests: [], neededThrough: seq }
    this.#groups.push(group)
    const [oldest] = this.#groups
    if (this.#groups.length > this.#maxGroups && oldest !== undefined) this.#forget(oldest)
    this.#open = group
    this.#length = 0
    this.#storedLength = 0
    this.#pieces = 0
    return group
  }

  #storePiece(): void {
    if (this.#open === undefined || this.#storedLength === this.#length) return
    const piece = this.#text.subarray(this.#storedLength, this.#length)
    const bytes = deflatePiece(piece, this.#text.subarray(0, this.#storedLength))
    this.#insertPiece.run(this.#open.id * MAX_PIECES + this.#pieces, bytes)
    this.#pieces += 1
    this.#storedLength = this.#length
  }

  #forget(group: KnownGroup): void {
    this.#groups.splice(this.#groups.indexOf(group), 1)
    for (const digest of group.digests) {
      if (this.#parts.get(digest)?.owner === group) this.#parts.delete(digest)
    }
    if (this.#open === group) this.#open = undefined
  }
}

for (let byte = 0, state = 0x7469_6465; byte < 256; byte += 1) {
  state = (state + 0x6d2b_79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  GEAR[byte] = mixed ^ (mixed >>> 14)
}

/**
 * Returns the end of the piece that starts at `start`. Boundaries depend on the bytes before them
 * alone (a gear hash, FastCDC by Xia et al., 2016), so that an edit changes only the pieces
 * around it.
 */
export function pieceEnd(bytes: Uint8Array, start: number): number {
  const first = start + MIN_PIECE
  const last = Math.min(start + MAX_PIECE, bytes.length)
  let hash = 0
  for (let at = Math.max(start, first - WINDOW); at < last; at += 1) {
    hash = ((hash << 1) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0
    if (at >= first && hash >>> BOUNDARY_SHIFT === 0) return at + 1
  }
  return last
}
