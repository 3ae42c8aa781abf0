import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

/** A separately compressed UTF-8 text. Concatenated blocks form one stream (RFC 1951). */
export type DeflatedBlock = Uint8Array

/** Gzip header for deflate without a file name, a time or an operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

function deflateBlock(text: string): DeflatedBlock {
  return deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH })
}

function inflateBlock(block: DeflatedBlock): Buffer {
  return inflateRawSync(block, { finishFlush: constants.Z_SYNC_FLUSH })
}

/**
 * Returns one gzip file (RFC 1952) of blocks and of texts between them, without compressing a block
 * again. The file has a single member, because readers such as curl stop after the first.
 */
export function gzipOfBlocks(parts: Iterable<DeflatedBlock | string>): Uint8Array {
  const chunks: Uint8Array[] = [GZIP_HEADER]
  let [checksum, length] = [0, 0]
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : inflateBlock(part)
    checksum = crc32(bytes, checksum)
    length += bytes.length
    chunks.push(typeof part === 'string' ? deflateBlock(part) : part)
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(length % 2 ** 32, 4)
  return Buffer.concat([...chunks, deflateRawSync(''), trailer])
}

/** Length of a block of JSON, in UTF-16 units. Long enough to compress well. */
const BLOCK_LENGTH = 256 * 1024

export interface Sequence<Item> extends Iterable<Item> {
  readonly length: number
}

/** A long append-only list of JSON values, stored compressed in about a tenth of the memory. */
export class PackedList<Item> implements Sequence<Item> {
  readonly #blocks: DeflatedBlock[] = []
  #text = ''
  #length = 0

  get length(): number {
    return this.#length
  }

  add(item: Item): void {
    this.#text += `${this.#length > 0 ? ',' : ''}${JSON.stringify(item)}`
    this.#length += 1
    if (this.#text.length >= BLOCK_LENGTH) this.#seal()
  }

  *[Symbol.iterator](): Generator<Item> {
    for (const block of this.#blocks) yield* itemsOf<Item>(inflateBlock(block).toString())
    if (this.#text !== '') yield* itemsOf<Item>(this.#text)
  }

  /** The JSON of all items, separated by commas. */
  blocks(): readonly DeflatedBlock[] {
    if (this.#text !== '') this.#seal()
    return this.#blocks
  }

  #seal(): void {
    this.#blocks.push(deflateBlock(this.#text))
    this.#text = ''
  }
}

/** Returns a packed list of the items, or the list itself if they are packed already. */
export function packedList<Item>(items: Iterable<Item>): PackedList<Item> {
  if (items instanceof PackedList) return items as PackedList<Item>
  const list = new PackedList<Item>()
  for (const item of items) list.add(item)
  return list
}

function itemsOf<Item>(text: string): Item[] {
  return JSON.parse(`[${text.startsWith(',') ? text.slice(1) : text}]`) as Item[]
}
