import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

import { combineCrc32 } from '../bytes.js'

/** A text that was compressed by itself, in UTF-8: several behind one another are one stream (RFC 1951). */
export interface DeflatedBlock {
  readonly deflated: Uint8Array
  /** Of the bytes before they were compressed. */
  readonly crc: number
  readonly length: number
}

/** Deflated, without a name or a time, of no particular system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

export function deflateBlock(text: string): DeflatedBlock {
  const bytes = Buffer.from(text)
  const deflated = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
  return { deflated, crc: crc32(bytes), length: bytes.length }
}

export function inflateBlock({ deflated }: DeflatedBlock): string {
  return inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
}

/**
 * One gzip file (RFC 1952) of blocks and of texts between them, without compressing any block again. Not as members of a file: readers such as
 * curl stop after the first.
 */
export function gzipOfBlocks(parts: Iterable<DeflatedBlock | string>): Uint8Array {
  const chunks: Uint8Array[] = [GZIP_HEADER]
  let [checksum, length] = [0, 0]
  for (const part of parts) {
    const block = typeof part === 'string' ? deflateBlock(part) : part
    checksum = combineCrc32(checksum, block.crc, block.length)
    length += block.length
    chunks.push(block.deflated)
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(length % 2 ** 32, 4)
  return Buffer.concat([...chunks, deflateRawSync(''), trailer])
}
