import { AppError } from '../../errors/app-error.js'

/** Callers give up after some ten seconds: who would have to wait for longer than this is told so at once. */
const MOST_WAITING_MS = 5000
/** What answers take is known after so long, and told by some two seconds. */
const [KNOWN_AFTER_MS, KNOWN_OF_MS] = [500, 2000]
/** Nor is it known of fewer answers: the first large ones take several times what they do once their code is compiled. */
const KNOWN_FROM = 16

/** How quickly a line of requests moves, by what its last ones took. */
export class LinePace {
  /** How long the line has been there, with all that is done between two answers, and how many were given. */
  #spentMs = 0
  #answers = 0
  /** How many were given since the line began. */
  #given = 0

  learn(answers: number, ms: number): void {
    const share = this.#spentMs < KNOWN_OF_MS ? 1 : 0.5
    this.#spentMs = this.#spentMs * share + ms
    this.#answers = this.#answers * share + answers
    this.#given += answers
  }

  /** The line has ended: the next one may be of other requests. */
  forget(): void {
    this.#spentMs = this.#answers = this.#given = 0
  }

  /** How many of those in line are answered before it would be too late. */
  get inTime(): number {
    if (this.#spentMs < KNOWN_AFTER_MS || this.#given < KNOWN_FROM) return Infinity
    return Math.ceil((MOST_WAITING_MS * this.#answers) / this.#spentMs)
  }
}

/** For those at the end of the line who would have to wait for longer than anybody should. */
export function tooManyWait(): AppError {
  const seconds = MOST_WAITING_MS / 1000
  return new AppError(
    'unavailable',
    `more requests wait than can be answered within ${seconds} seconds: ask again later`,
    { retryAfterSeconds: seconds },
  )
}
