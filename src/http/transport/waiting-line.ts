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

/** Is called once, at its turn, or as soon as it is known that this would be too late. */
type AnswerInTurn = (isTooLate: boolean) => void

interface Waiting {
  readonly bytes: number
  readonly answer: AnswerInTurn
  /** Whether it is answered behind promises, as soon as `answer` has returned. */
  readonly isPromised?: true
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

  /** Answers a request, whose body has so many bytes, once those before it are answered; to be called while `isOpen`. */
  answerInTurn(bytes: number, answer: AnswerInTurn): void {
    this.#join({ bytes, answer })
  }

  /**
   * The same for a request that is answered behind promises: undefined where it is its turn, else resolves when it is; rejects with `unavailable` where that
   * would be too late.
   */
  takeTurn(bytes: number): Promise<void> | undefined {
    if (this.isFull) return Promise.reject(tooManyWait())
    if (this.isOpen)
      return new Promise((begin, refuse) => {
        const answer: AnswerInTurn = (isTooLate) => (isTooLate ? refuse(tooManyWait()) : begin())
        this.#join({ bytes, answer, isPromised: true })
      })
    this.#afterPromised((tookMs) => this.answered(tookMs))
    return undefined
  }

  /** What was begun in its turn took so long in others: it is taken from the time that those have who stand in line while connections come. */
  spent(ms: number): void {
    if (this.#nextTurn !== undefined) this.#roomMs -= Math.min(ms, MOST_OF_A_TURN_MS)
  }

  #join(request: Waiting): void {
    this.#waiting.push(request)
    this.#waitingBytes += request.bytes
  }

  /** The next tick comes when everything has run that is behind promises which are kept. */
  #afterPromised(next: (tookMs: number) => void): void {
    const begun = performance.now()
    queueMicrotask(() => process.nextTick(() => next(performance.now() - begun)))
  }

  readonly #goOn = (tookMs: number): void => {
    this.answered(tookMs)
    this.spent(tookMs)
    if (this.#roomMs > 0 && this.#waiting.length > 0) this.#answerFor(this.#roomMs)
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
    if (this.#roomMs > 0) this.#answerFor(this.#roomMs)
    // One more turn shows whether another connection waits.
    const goesOn = this.#hasNewConnection || this.#waiting.length > 0
    this.#nextTurn = goesOn ? setImmediate(this.#answerSome) : undefined
    this.#hasNewConnection = false
  }

  #answerFor(ms: number): void {
    const begun = performance.now()
    let answered = 0
    let next: Waiting | undefined
    let now: number
    do {
      next = this.#waiting[answered++]
      this.#waitingBytes -= next?.bytes ?? 0
      next?.answer(false)
      now = performance.now()
    } while (answered < this.#waiting.length && now < begun + ms && next?.isPromised !== true)
    if (next?.isPromised === true) this.#afterPromised(this.#goOn)
    this.spent(now - begun)
    this.#pace.learn(answered, Math.min(now - (this.#lastEnd ?? begun), MOST_OF_A_TURN_MS))
    this.#waiting.splice(0, answered)
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
