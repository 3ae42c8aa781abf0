import type { Terminal } from '../session/terminal.js'

const SHOWN_AFTER_MS = 1000
const REDRAWN_AFTER_MS = 100
const ERASE_LINE = '\r\u001b[K'

/** A progress line on standard error, if it is a terminal. */
export class Progress {
  readonly #terminal: Terminal
  readonly #nowMs: () => number
  readonly #startedAtMs: number
  #drawnAtMs = 0
  #isDrawn = false

  constructor(terminal: Terminal, nowMs: () => number = () => performance.now()) {
    this.#terminal = terminal
    this.#nowMs = nowMs
    this.#startedAtMs = nowMs()
  }

  /** Shows a line once the work has taken a second. */
  show(text: string): void {
    const now = this.#nowMs()
    if (!this.#terminal.showsProgress || now - this.#startedAtMs < SHOWN_AFTER_MS) return
    if (now - this.#drawnAtMs < REDRAWN_AFTER_MS) return
    this.#terminal.err(`${ERASE_LINE}${text}`)
    this.#drawnAtMs = now
    this.#isDrawn = true
  }

  /** Shows a line while a promise is pending. */
  async during<T>(text: string, work: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.show(text), REDRAWN_AFTER_MS)
    try {
      return await work
    } finally {
      clearInterval(timer)
      this.end()
    }
  }

  /** Removes the line. */
  end(): void {
    if (this.#isDrawn) this.#terminal.err(ERASE_LINE)
    this.#isDrawn = false
  }
}
