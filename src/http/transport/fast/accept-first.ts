/** How long requests are answered in a turn of the event loop in which a connection came, in milliseconds. */
const ANSWERING_MS = 0.25
/** Of the bodies of requests in line: thousands of callers could have many times that wait. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024

interface Waiting {
  readonly bytes: number
  readonly answer: () => void
}

/**
 * Node takes one new connection in a turn of its event loop (libuv 1.45 and later), and a turn answers whatever has come over the others:
 * where a thousand callers come at once, the last would wait for as many turns of tens of milliseconds. So while connections come, turns are short:
 * requests wait in line, and each turn answers a few of them.
 */
export class AcceptFirst {
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  #hasNewConnection = false
  #nextTurn: NodeJS.Immediate | undefined

  /** A connection came in this turn. */
  accepted(): void {
    this.#hasNewConnection = true
    this.#nextTurn ??= setImmediate(this.#answerSome)
  }

  /** Whether requests are to wait in line: not where those that do hold as much as they may. */
  get isAccepting(): boolean {
    return this.#nextTurn !== undefined && this.#waitingBytes < MOST_WAITING_BYTES
  }

  /** Answers a request, whose body has so many bytes, once those before it are answered; to be called while `isAccepting`. */
  answerInTurn(bytes: number, answer: () => void): void {
    this.#waiting.push({ bytes, answer })
    this.#waitingBytes += bytes
  }

  readonly #answerSome = (): void => {
    const until = this.#hasNewConnection ? performance.now() + ANSWERING_MS : Infinity
    let answered = 0
    do {
      const next = this.#waiting[answered++]
      this.#waitingBytes -= next?.bytes ?? 0
      next?.answer()
    } while (answered < this.#waiting.length && performance.now() < until)
    this.#waiting.splice(0, answered)
    // One more turn shows whether another connection waits.
    this.#nextTurn =
      this.#hasNewConnection || this.#waiting.length > 0 ? setImmediate(this.#answerSome) : undefined
    this.#hasNewConnection = false
  }
}
