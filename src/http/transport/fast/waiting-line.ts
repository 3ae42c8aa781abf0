/** How long requests are answered in one turn of the event loop, and in a turn in which a connection came, in milliseconds. */
const [TURN_MS, ACCEPTING_TURN_MS] = [20, 0.25]
/** Of the bodies of requests in line: thousands of callers could have many times that wait. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024
/** What is answered faster needs no line: of as many connections as there may be, the last one is answered within three seconds. */
const DEAR_MS = 0.3
/** Callers give up after some ten seconds: who would have to wait for longer than this is told so at once. */
export const MOST_WAITING_MS = 5000
/** So many answers count as much as all that is known of those before them. */
const KNOWN_ANSWERS = 16

interface Waiting {
  readonly bytes: number
  readonly answer: () => void
}

/**
 * Where requests wait in line. Node takes one new connection in a turn of its event loop (libuv 1.45 and later), and a turn answers whatever has come over
 * the others: where a thousand callers come at once, the last would wait for as many turns of tens of milliseconds, and where each asks for something that
 * takes long, nobody could be told how long he has to wait. So then turns are short: each answers a few, and sees who has come meanwhile.
 */
export class WaitingLine {
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  #hasNewConnection = false
  #nextTurn: NodeJS.Immediate | undefined
  /** What an answer takes, with all that is done between two of them; 0 where that is not known. */
  #msEach = 0
  /** When the last turn ended that left somebody in line. */
  #lastEnd: number | undefined

  /** A connection came in this turn. */
  accepted(): void {
    this.#hasNewConnection = true
    this.#nextTurn ??= setImmediate(this.#answerSome)
  }

  /** A request was answered at once, and took so long: those that come in the same turn wait in line. */
  answered(tookMs: number): void {
    if (tookMs >= DEAR_MS) this.#nextTurn ??= setImmediate(this.#answerSome)
  }

  /** Whether requests are to wait in line: not where those that do hold as much as they may. */
  get isOpen(): boolean {
    return this.#nextTurn !== undefined && this.#waitingBytes < MOST_WAITING_BYTES
  }

  /** Whether one more would have to wait for longer than anybody should, by what those before it took. */
  get isTooLong(): boolean {
    return this.#waiting.length * this.#msEach > MOST_WAITING_MS
  }

  /** Answers a request, whose body has so many bytes, once those before it are answered; to be called while `isOpen`. */
  answerInTurn(bytes: number, answer: () => void): void {
    this.#waiting.push({ bytes, answer })
    this.#waitingBytes += bytes
  }

  readonly #answerSome = (): void => {
    const begun = performance.now()
    const until = begun + (this.#hasNewConnection ? ACCEPTING_TURN_MS : TURN_MS)
    let answered = 0
    let now: number
    do {
      const next = this.#waiting[answered++]
      this.#waitingBytes -= next?.bytes ?? 0
      next?.answer()
      now = performance.now()
    } while (answered < this.#waiting.length && now < until)
    this.#learn(answered, now - (this.#lastEnd ?? begun))
    this.#waiting.splice(0, answered)
    const isEmpty = this.#waiting.length === 0
    this.#lastEnd = isEmpty ? undefined : now
    if (isEmpty) this.#msEach = 0
    // One more turn shows whether another connection waits.
    this.#nextTurn = this.#hasNewConnection || !isEmpty ? setImmediate(this.#answerSome) : undefined
    this.#hasNewConnection = false
  }

  #learn(answered: number, ms: number): void {
    const share = this.#msEach === 0 ? 1 : answered / (answered + KNOWN_ANSWERS)
    this.#msEach += (ms / answered - this.#msEach) * share
  }
}
