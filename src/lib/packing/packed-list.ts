import { deflateBlock, inflateBlock } from './deflated-block.js'
import type { DeflatedBlock } from './deflated-block.js'

/** Of the JSON that is compressed at once, in UTF-16 units: long enough that compression loses little. */
const BLOCK_LENGTH = 256 * 1024

/** Items in order, and how many they are. */
export interface Sequence<Item> extends Iterable<Item> {
  readonly length: number
}

/** A long list of values as JSON has them, held compressed: it is added to and read from its beginning, and takes a tenth of the memory. */
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
    for (const block of this.#blocks) yield* itemsOf<Item>(inflateBlock(block))
    if (this.#text !== '') yield* itemsOf<Item>(this.#text)
  }

  /** The JSON of all items with commas between them. */
  blocks(): readonly DeflatedBlock[] {
    if (this.#text !== '') this.#seal()
    return this.#blocks
  }

  #seal(): void {
    this.#blocks.push(deflateBlock(this.#text))
    this.#text = ''
  }
}

/** A packed list of these items; the same where they are packed already. */
export function packedList<Item>(items: Iterable<Item>): PackedList<Item> {
  if (items instanceof PackedList) return items as PackedList<Item>
  const list = new PackedList<Item>()
  for (const item of items) list.add(item)
  return list
}

function itemsOf<Item>(text: string): Item[] {
  return JSON.parse(`[${text.startsWith(',') ? text.slice(1) : text}]`) as Item[]
}
