const FIRST_CAPACITY = 4096

/** Numbers in order, four bytes each: a log of millions of lines is remembered by one for each. */
export class RowList {
  #rows = new Int32Array(FIRST_CAPACITY)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Appends a number so many times. */
  add(row: number, times: number): void {
    if (this.#length + times > this.#rows.length) this.#grow(this.#length + times)
    this.#rows.fill(row, this.#length, this.#length + times)
    this.#length += times
  }

  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#length; at += 1) yield this.#rows[at] ?? 0
  }

  #grow(least: number): void {
    const larger = new Int32Array(Math.max(least, this.#rows.length * 2))
    larger.set(this.#rows)
    this.#rows = larger
  }
}
