/** What was made of texts, for the next time: at most this many, of which the one that was not used for the longest goes first. */
export class RecentlyUsed<Made> {
  readonly #made = new Map<string, Made>()
  readonly #most: number
  /** What was asked for last is mostly asked for again. */
  #last: { readonly text: string; readonly made: Made } | undefined

  constructor(most: number) {
    this.#most = most
  }

  get(text: string): Made | undefined {
    if (this.#last?.text === text) return this.#last.made
    const made = this.#made.get(text)
    if (made === undefined) return undefined
    // Deleting first moves it to the young end of the map.
    this.#made.delete(text)
    this.#made.set(text, made)
    this.#last = { text, made }
    return made
  }

  add(text: string, made: Made): void {
    this.#last = undefined
    this.#made.set(text, made)
    const [oldest] = this.#made.keys()
    if (this.#made.size > this.#most && oldest !== undefined) this.#made.delete(oldest)
  }
}
