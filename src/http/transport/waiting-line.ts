import { LinePace, tooManyWait } from '../exchange/line-pace.js'

/** How long requests are answered in one turn of the event loop, and in a turn in which a connection came, in milliseconds. */
const [TURN_MS, ACCEPTING_TURN_MS] = [20, 0.25]
/** Of the bodies of requests in line: thousands of callers could have many times that wait. */
const MOST_WAITING_BYTES = 128 * 1024 * 1024
/** What is answered faster needs no line: of as many connections as there may be, the last one is answered within three seconds. */
const DEAR_MS = 0.3
/** Of how many answers the usual time is told: fewer than two garbage collections lie apart, of which none makes answers dear. */
const USUAL_OF = 64
/** A turn that took longer had not the core for itself, or collected garbage: no measure of what answers take. */
const MOST_OF_A_TURN_MS = 60

interface Waiting {
  readonly bytes: number
  /** Called once: at its turn, or as soon as it is known that this would be too late. */
  readonly answer: (isTooLate: boolean) => void
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
  /** How long answers may take in this turn. */
  #roomMs = 0
  readonly #pace = new LinePace()
  /** What answers that were given at once took of late, on average. */
  #usualMs = 0
  /** When the last turn ended that left somebody in line. */
  #lastEnd: number | undefined

  /** A connection came in this turn. */
  accepted(): void {
    this.#hasNewConnection = true
    this.#nextTurn ??= setImmediate(this.#answerSome)
  }

  /** A request was answered at once, and took so long: those that come in the same turn wait in line where that is usual. */
  answered(tookMs: number): void {
    this.#usualMs += (tookMs - this.#usualMs) / USUAL_OF
    // A line costs what is quick much: by their turn, of a thousand connections none is in the processor's caches any more.
    if (tookMs >= DEAR_MS && this.#usualMs >= DEAR_MS) this.#nextTurn ??= setImmediate(this.#answerSome)
  }

  /** Whether requests are to wait in line: not where those that do hold as much as they may. */
  get isOpen(): boolean {
    return this.#nextTurn !== undefined && this.#waitingBytes < MOST_WAITING_BYTES
  }

  /** Whether they are to be refused: answered at once, what takes long would go before all that waits, and nobody could be told how long. */
  get isFull(): boolean {
    return this.#waitingBytes >= MOST_WAITING_BYTES && this.#usualMs >= DEAR_MS
  }

  /**
   * Queues a request whose body has this many bytes. Returns undefined if it is its turn already, else a promise that resolves
   * at its turn and rejects with `unavailable` if that would be too late.
   */
  takeTurn(bytes: number): Promise<void> | undefined {
    if (this.isFull) return Promise.reject(tooManyWait())
    if (this.isOpen)
      return new Promise((begin, refuse) => {
        const answer = (isTooLate: boolean): void => (isTooLate ? refuse(tooManyWait()) : begin())
        this.#waiting.push({ bytes, answer })
        this.#waitingBytes += bytes
      })
    this.#afterPromised((tookMs) => this.answered(tookMs))
    return undefined
  }

  /** What was begun in its turn took so long in others: it is taken from the time that those have who stand in line while connections come. */
  spent(ms: number): void {
    if (this.#nextTurn !== undefined) this.#roomMs -= Math.min(ms, MOST_OF_A_TURN_MS)
  }

  /** The next tick comes when everything has run that is behind promises which are kept. */
  #afterPromised(next: (tookMs: number) => void): void {
    const begun = performance.now()
    queueMicrotask(() => process.nextTick(() => next(performance.now() - begun)))
  }

  readonly #goOn = (tookMs: number): void => {
    this.answered(tookMs)
    this.spent(tookMs)
    if (this.#roomMs > 0) this.#answerNext()
  }

  readonly #answerSome = (): void => {
    if (!this.#hasNewConnection && this.#waiting.length === 0) {
      // Nobody came behind what took long.
      this.#nextTurn = undefined
      this.#roomMs = 0
      return
    }
    // What took longer than it might is taken from later turns: else thousands who wait to be let in would wait for as many answers.
    this.#roomMs = this.#hasNewConnection ? Math.min(this.#roomMs, 0) + ACCEPTING_TURN_MS : TURN_MS
    if (this.#roomMs > 0) this.#answerNext()
    // One more turn shows whether another connection waits.
    const goesOn = this.#hasNewConnection || this.#waiting.length > 0
    this.#nextTurn = goesOn ? setImmediate(this.#answerSome) : undefined
    this.#hasNewConnection = false
  }

  #answerNext(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    const now = performance.now()
    this.#waitingBytes -= next.bytes
    next.answer(false)
    this.#afterPromised(this.#goOn)
    this.#pace.learn(1, Math.min(now - (this.#lastEnd ?? now), MOST_OF_A_TURN_MS))
    this.#refuseLast()
    const isEmpty = this.#waiting.length === 0
    this.#lastEnd = isEmpty ? undefined : now
    if (isEmpty) this.#pace.forget()
  }

  /** Those at the end of the line who would have to wait for longer than anybody should, by what those before them took. */
  #refuseLast(): void {
    for (const { bytes, answer } of this.#waiting.splice(this.#pace.inTime)) {
      this.#waitingBytes -= bytes
      answer(true)
    }
  }
}
