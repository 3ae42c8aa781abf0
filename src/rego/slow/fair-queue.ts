/** A queued item with its key. */
export interface Waiting {
  /** Items with the same key share one turn. */
  readonly key: string
  readonly bytes: number
}

export interface QueueBounds {
  readonly maxItems: number
  readonly maxBytes: number
}

/**
 * A bounded queue that is fair to keys: keys take turns, and if it is full, the key with the most
 * items drops one for a key with fewer.
 */
export class FairQueue<Item extends Waiting> {
  readonly #bounds: QueueBounds
  /** In the order of turns. */
  readonly #byKey = new Map<string, Item[]>()
  #length = 0
  #bytes = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  get length(): number {
    return this.#length
  }

  /** Adds an item to its key's queue. Returns the dropped items: older ones, or this one. */
  add(item: Item): Item[] {
    const displaced: Item[] = []
    while (!this.#fits(item)) {
      const longest = this.#longest()
      const last = longest.at(-1)
      if (last === undefined || longest.length <= this.#countOf(item.key) + 1) return [...displaced, item]
      this.remove(last)
      displaced.push(last)
    }
    const line = this.#byKey.get(item.key)
    if (line === undefined) this.#byKey.set(item.key, [item])
    else line.push(item)
    this.#length += 1
    this.#bytes += item.bytes
    return displaced
  }

  /** Removes and returns the next item. Its key then waits for the turns of all others. */
  take(): Item | undefined {
    const [next] = this.#byKey
    if (next === undefined) return undefined
    const [key, line] = next
    const [item] = line
    if (item === undefined) return undefined
    this.#byKey.delete(key)
    this.#byKey.set(key, line)
    this.remove(item)
    return item
  }

  /** Removes an item; false if it is not queued. */
  remove(item: Item): boolean {
    const line = this.#byKey.get(item.key)
    const place = line?.indexOf(item) ?? -1
    if (line === undefined || place < 0) return false
    line.splice(place, 1)
    if (line.length === 0) this.#byKey.delete(item.key)
    this.#length -= 1
    this.#bytes -= item.bytes
    return true
  }

  /** Removes and returns all items. */
  clear(): Item[] {
    const items = [...this.#byKey.values()].flat()
    this.#byKey.clear()
    this.#length = 0
    this.#bytes = 0
    return items
  }

  #fits({ bytes }: Item): boolean {
    const { maxItems, maxBytes } = this.#bounds
    // A single item may have any size.
    return this.#length < maxItems && (this.#length === 0 || this.#bytes + bytes <= maxBytes)
  }

  #countOf(key: string): number {
    return this.#byKey.get(key)?.length ?? 0
  }

  #longest(): readonly Item[] {
    let longest: readonly Item[] = []
    for (const line of this.#byKey.values()) {
      if (line.length > longest.length) longest = line
    }
    return longest
  }
}
