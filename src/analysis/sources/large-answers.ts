/** How much of every answer is read beside others; there may be as many as a look asks queries at a time. */
export const SMALL_ANSWER_BYTES = 1024 * 1024

/** A place among the large answers, for as long as one answer is read and looked at. */
export interface LargeAnswerTurn {
  /** Resolves once it is this one's turn; again at once. */
  readonly take: () => Promise<void>
  /** Lets the next one go on; to be called in any case, once nothing of the answer is held. */
  readonly end: () => void
}

interface Place {
  readonly begin: () => void
  readonly begun: Promise<void>
}

/**
 * Has the large answers of a look read one after the other. Each may be as large as the source's limit, and takes several times as
 * much while it is read: what a look holds must not be that times the queries under way.
 */
export class LargeAnswers {
  /** The first has its turn. */
  readonly #queue: Place[] = []

  open(): LargeAnswerTurn {
    let place: Place | undefined
    const take = (): Promise<void> => {
      if (place === undefined) {
        let begin = (): void => undefined
        const begun = new Promise<void>((resolve) => (begin = resolve))
        place = { begin, begun }
        this.#queue.push(place)
        this.#queue[0]?.begin()
      }
      return place.begun
    }
    const end = (): void => {
      const at = place === undefined ? -1 : this.#queue.indexOf(place)
      if (at < 0) return
      this.#queue.splice(at, 1)
      this.#queue[0]?.begin()
    }
    return { take, end }
  }
}
