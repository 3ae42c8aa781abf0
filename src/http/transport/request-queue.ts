import { AppError } from '../../errors/app-error.js'

/** How long requests are answered in one turn of the event loop, and in a turn in which a connection came. */
const [TURN_MS, ACCEPTING_TURN_MS] = [10, 0.25]
/** A turn that took longer was held up by something else than its requests. */
const MAX_DEBT_MS = 100
/** Callers give up after some ten seconds. */
export const MAX_WAIT_MS = 5000
/** What is done with a larger body takes tens of milliseconds, and small requests do not wait for all of them. */
const LARGE_BYTES = 128 * 1024
/** The bodies of all requests that wait hold no more than this. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024

interface Waiting {
  readonly bytes: number
  readonly since: number
  readonly begin: () => void
  readonly refuse: (error: AppError) => void
}

/**
 * Spreads requests over turns of the event loop. Node.js accepts one new connection in a turn, so a turn that answers everything that has arrived keeps new callers
 * waiting. Once a turn has taken its time, further requests wait. Each later turn answers small ones for as long, and then one with a large body. While connections
 * come, turns are shorter, and what one took too long is saved by those after it.
 */
export class RequestQueue {
  readonly #small: Waiting[] = []
  readonly #large: Waiting[] = []
  #waitingBytes = 0
  #hasNewConnection = false
  /** Ends the turn of the event loop; undefined where nothing has come in it. */
  #endOfTurn: NodeJS.Immediate | undefined
  #beganAt = 0
  #budgetMs = TURN_MS

  /** A connection came in this turn. */
  accepted(): void {
    this.#hasNewConnection = true
    this.#beginTurn()
  }

  /**
   * Undefined where a request may go on at once, else a promise that resolves at its turn. It rejects with `unavailable` after five seconds, or at once where the
   * bodies of all that wait are too large together.
   */
  takeTurn(bytes: number): Promise<void> | undefined {
    this.#beginTurn()
    const waiting = bytes < LARGE_BYTES ? this.#small : this.#large
    const since = performance.now()
    if (waiting.length === 0 && since - this.#beganAt < this.#budgetMs) return undefined
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) return Promise.reject(queueFull())
    this.#waitingBytes += bytes
    return new Promise((begin, refuse) => waiting.push({ bytes, since, begin, refuse }))
  }

  #beginTurn(): void {
    if (this.#endOfTurn !== undefined) return
    this.#beganAt = performance.now()
    this.#endOfTurn = setImmediate(() => void this.#endTurn())
  }

  async #endTurn(): Promise<void> {
    const now = performance.now()
    const left = this.#budgetMs - (now - this.#beganAt)
    this.#budgetMs = this.#hasNewConnection
      ? ACCEPTING_TURN_MS + Math.max(-MAX_DEBT_MS, Math.min(left, 0))
      : TURN_MS
    this.#endOfTurn = undefined
    // One more turn shows whether another connection waits.
    if (this.#hasNewConnection || this.#small.length + this.#large.length > 0) this.#beginTurn()
    this.#hasNewConnection = false
    for (const waiting of [this.#small, this.#large]) this.#refuseLate(waiting, now)
    while (this.#small.length > 0 && performance.now() - now < this.#budgetMs) {
      this.#shift(this.#small)?.begin()
      await untilAnswered()
    }
    if (this.#budgetMs > 0) this.#shift(this.#large)?.begin()
  }

  #refuseLate(waiting: Waiting[], now: number): void {
    for (let [first] = waiting; first !== undefined && now - first.since > MAX_WAIT_MS; [first] = waiting)
      this.#shift(waiting)?.refuse(queueFull())
  }

  #shift(waiting: Waiting[]): Waiting | undefined {
    const next = waiting.shift()
    this.#waitingBytes -= next?.bytes ?? 0
    return next
  }
}

/** The next tick comes once everything has run that is behind promises which are kept. */
function untilAnswered(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
}

/** For those who would have to wait for longer than anybody should. */
export function queueFull(): AppError {
  const seconds = MAX_WAIT_MS / 1000
  return new AppError(
    'unavailable',
    `more requests wait than can be answered within ${seconds} seconds: ask again later`,
    { retryAfterSeconds: seconds },
  )
}
