import type { Database, Statement } from 'better-sqlite3'

import { MAX_PIECES, decodeExtents, inflateGroup } from './input-groups.js'
import type { DecisionTable } from '../../tables/decision-table.js'

/** 128 KiB each. Decisions that follow each other share groups. */
const MAX_CACHED_GROUPS = 32

/** A decision of this file, whose input may be packed. */
export interface PackedDecision extends DecisionTable {
  readonly input_extents: Uint8Array | null
}

/** Puts packed inputs together. */
export class InputReader {
  readonly #database: Database
  readonly #groups = new Map<number, Uint8Array>()
  #pieces: Statement<[number, number], Uint8Array> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Returns a decision with its whole input. An input whose text was removed while it was read
   * counts as cut.
   */
  unpack({ input_extents: column, ...row }: PackedDecision): DecisionTable {
    if (column === null) return row
    const input = this.#read(column)
    return input === undefined ? { ...row, input: Buffer.alloc(0), input_truncated: 1 } : { ...row, input }
  }

  #read(column: Uint8Array): Uint8Array | undefined {
    const parts: Uint8Array[] = []
    for (const { group, offset, length } of decodeExtents(column)) {
      const text = this.#textOf(group, offset + length)
      if (text === undefined) return undefined
      parts.push(text.subarray(offset, offset + length))
    }
    return Buffer.concat(parts)
  }

  /** Returns the text of a group up to `end`, which may still grow; undefined if it is shorter. */
  #textOf(group: number, end: number): Uint8Array | undefined {
    const known = this.#groups.get(group)
    if (known !== undefined && known.length >= end) return known
    this.#pieces ??= this.#database
      .prepare<[number, number], Uint8Array>(
        'select bytes from input_pieces where id >= ? and id < ? order by id',
      )
      .pluck()
    const pieces = this.#pieces.all(group * MAX_PIECES, (group + 1) * MAX_PIECES)
    const text = inflateGroup(pieces)
    this.#groups.delete(group)
    this.#groups.set(group, text)
    const [oldest] = this.#groups.keys()
    if (this.#groups.size > MAX_CACHED_GROUPS && oldest !== undefined) this.#groups.delete(oldest)
    return text.length < end ? undefined : text
  }
}
