/** What was made of texts, for the next time: at most so many, of which the one that was not used for the longest goes first. */
export class RecentlyUsed<Made> {
  readonly #made = new Map<string, Made>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(text: string): Made | undefined {
    const made = this.#made.get(text)
    // Deleting first moves it to the young end of the map.
    if (made !== undefined && this.#made.delete(text)) this.#made.set(text, made)
    return made
  }

  add(text: string, made: Made): void {
    this.#made.set(text, made)
    const [oldest] = this.#made.keys()
    if (this.#made.size > this.#most && oldest !== undefined) this.#made.delete(oldest)
  }
}
