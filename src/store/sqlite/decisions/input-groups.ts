import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Inputs of decisions are stored as extents of groups. A group is up to `GROUP_BYTES` of text,
 * written in deflated pieces, each with the text before it as dictionary. Equal parts of inputs
 * share one extent.
 */
export const GROUP_BYTES = 128 * 1024
/** Pieces of a group have consecutive keys from `group * MAX_PIECES`. */
export const MAX_PIECES = 1024
/** Window of deflate (RFC 1951). */
const MAX_DICTIONARY = 32 * 1024
/** Small pieces are rare, so their size matters more than time. */
const SMALL_PIECE = 32 * 1024
const [SMALL_LEVEL, LARGE_LEVEL] = [6, 1]

/** A part of a group's text. */
export interface Extent {
  readonly group: number
  readonly offset: number
  readonly length: number
}

/** Deflates a piece after the text of its group so far. */
export function deflatePiece(piece: Uint8Array, before: Uint8Array): Uint8Array {
  const level = piece.length <= SMALL_PIECE ? SMALL_LEVEL : LARGE_LEVEL
  return deflateRawSync(piece, { level, ...dictionaryOf(before) })
}

/** Returns the text of a group from its pieces, in order. Throws the errors of zlib. */
export function inflateGroup(pieces: readonly Uint8Array[]): Uint8Array {
  const text = Buffer.allocUnsafe(GROUP_BYTES)
  let length = 0
  for (const piece of pieces) {
    const part = inflateRawSync(piece, dictionaryOf(text.subarray(0, length)))
    part.copy(text, length)
    length += part.length
  }
  return text.subarray(0, length)
}

function dictionaryOf(before: Uint8Array): { readonly dictionary?: Uint8Array } {
  return before.length === 0 ? {} : { dictionary: before.subarray(-MAX_DICTIONARY) }
}

/** Numbers of an extent, 32 bits each. */
const NUMBERS = 3
const BYTES_PER_NUMBER = 4

/** Encodes extents for their column. */
export function encodeExtents(extents: readonly Extent[]): Uint8Array {
  const bytes = Buffer.alloc(extents.length * NUMBERS * BYTES_PER_NUMBER)
  let at = 0
  for (const { group, offset, length } of extents) {
    for (const number of [group, offset, length]) at = bytes.writeUInt32LE(number, at)
  }
  return bytes
}

/** Decodes the column of extents. */
export function decodeExtents(column: Uint8Array): Extent[] {
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.length)
  const count = Math.floor(bytes.length / (NUMBERS * BYTES_PER_NUMBER))
  return Array.from({ length: count }, (_, index) => {
    const at = index * NUMBERS * BYTES_PER_NUMBER
    return {
      group: bytes.readUInt32LE(at),
      offset: bytes.readUInt32LE(at + BYTES_PER_NUMBER),
      length: bytes.readUInt32LE(at + 2 * BYTES_PER_NUMBER),
    }
  })
}
