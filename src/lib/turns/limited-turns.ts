/** Lets so many works go on at a time; the others wait in a line of limited length. */
export class LimitedTurns {
  readonly #most: { readonly running: number; readonly waiting: number }
  readonly #crowded: () => Error
  readonly #line = new Set<() => void>()
  #running = 0

  /** `crowded` makes the error for who finds no room, or waits in vain. */
  constructor(most: { readonly running: number; readonly waiting: number }, crowded: () => Error) {
    this.#most = most
    this.#crowded = crowded
  }

  get waiting(): number {
    return this.#line.size
  }

  /** Does the work when it is its turn. Raises as that, and `crowded` where there is no room in the line, or when `signal` is aborted before its turn. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running < this.#most.running) this.#running += 1
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#line
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  /** Who is called takes the place of who has ended. */
  #wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#line.size >= this.#most.waiting) return Promise.reject(this.#crowded())
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', giveUp)
        this.#line.delete(begin)
      }
      const begin = (): void => {
        leave()
        resolve()
      }
      const giveUp = (): void => {
        leave()
        reject(this.#crowded())
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#line.add(begin)
    })
  }
}
