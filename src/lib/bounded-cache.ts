/** A least-recently-used cache with a limit in bytes. */
export class BoundedCache<V> {
  readonly #maxBytes: number
  readonly #sizeOf: (key: string, value: V) => number
  readonly #entries = new Map<string, { readonly value: V; readonly bytes: number }>()
  #bytes = 0

  constructor(maxBytes: number, sizeOf: (key: string, value: V) => number) {
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: V): void {
    this.delete(key)
    const bytes = this.#sizeOf(key, value)
    if (bytes > this.#maxBytes) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}
