import { AppError } from '../../errors/app-error.js'

/** Time for requests per turn of the event loop, without and with a new connection. */
const [TURN_MS, ACCEPTING_TURN_MS] = [10, 0.25]
/** A longer turn was delayed by something other than its requests. */
const MAX_DEBT_MS = 100
/** Below the usual client timeout of ten seconds. */
export const MAX_WAIT_MS = 5000
/** Larger bodies take tens of milliseconds and get a queue of their own. */
const LARGE_BYTES = 128 * 1024
/** Maximum total body size of waiting requests. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024

interface Waiting {
  readonly bytes: number
  readonly since: number
  readonly begin: () => void
  readonly refuse: (error: AppError) => void
}

/**
 * Spreads requests over turns of the event loop. Node.js accepts one connection per turn, so
 * processing all requests in one turn would delay new clients. When a turn has used its time,
 * further requests wait. Each later turn processes small requests for that time, and then one with
 * a large body. Turns are shorter while connections arrive, and excess time is deducted from later
 * turns.
 */
export class RequestQueue {
  readonly #small: Waiting[] = []
  readonly #large: Waiting[] = []
  #waitingBytes = 0
  #hasNewConnection = false
  /** Ends the turn; undefined if nothing arrived in it. */
  #endOfTurn: NodeJS.Immediate | undefined
  #beganAt = 0
  #budgetMs = TURN_MS

  /** Records a new connection. */
  accepted(): void {
    this.#hasNewConnection = true
    this.#beginTurn()
  }

  /**
   * Returns undefined if the request may continue now, otherwise a promise for its turn. It rejects
   * with `unavailable` after five seconds, or immediately if the waiting bodies are too large in
   * total.
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
    // Another turn shows whether more connections wait.
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

/** Resolves after all pending microtasks. */
function untilAnswered(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
}

/** Returns the error for a request that would wait too long. */
export function queueFull(): AppError {
  const seconds = MAX_WAIT_MS / 1000
  return new AppError(
    'unavailable',
    `too many requests: more are waiting than can be processed in ${seconds} seconds; retry later`,
    { retryAfterSeconds: seconds },
  )
}
