import { AppError } from '../../errors/app-error.js'
import { LinePace, tooManyWait } from '../exchange/line-pace.js'

/** Smaller bodies are read and decided upon in a few milliseconds. */
export const LARGE_BYTES = 128 * 1024
/** All bodies that wait for their turn hold no more than this together. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024
/** A body of 10 MB, and all that its evaluation may take of this thread, take less: in a longer turn the process stood still, which is no measure. */
const MOST_OF_A_TURN_MS = 250

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
  readonly refuse: (error: AppError) => void
}

/**
 * Lets large bodies go on one at a time, each in a turn of the event loop of its own: what is done with one takes up to a tenth of a second, and with
 * those of many callers that end together everybody else would wait for the sum.
 */
export class LargeBodyTurns {
  readonly #waiting: Waiting[] = []
  readonly #pace = new LinePace()
  #waitingBytes = 0
  #isTaken = false

  /**
   * Undefined for a body that goes on at once, else resolves at its turn; rejects with `unavailable` where that would be too late, by what those before it took.
   * Raises `unavailable` where too much waits already.
   */
  take(bytes: number): Promise<void> | undefined {
    if (bytes < LARGE_BYTES) return undefined
    if (!this.#isTaken) {
      this.#begin()
      return undefined
    }
    if (this.#waitingBytes + bytes > MOST_WAITING_BYTES)
      throw new AppError('unavailable', 'too many large bodies wait to be read; try again', {
        retryAfterSeconds: 1,
      })
    this.#waitingBytes += bytes
    return new Promise((begin, refuse) => this.#waiting.push({ begin, refuse, bytes }))
  }

  /** What is asked in the meantime is answered before the next one. */
  #begin(): void {
    this.#isTaken = true
    const begun = performance.now()
    setImmediate(() => {
      this.#pace.learn(1, Math.min(performance.now() - begun, MOST_OF_A_TURN_MS))
      for (const { bytes, refuse } of this.#waiting.splice(this.#pace.inTime)) {
        this.#waitingBytes -= bytes
        refuse(tooManyWait())
      }
      const next = this.#waiting.shift()
      this.#isTaken = false
      if (next === undefined) {
        this.#pace.forget()
        return
      }
      this.#waitingBytes -= next.bytes
      this.#begin()
      next.begin()
    })
  }
}
