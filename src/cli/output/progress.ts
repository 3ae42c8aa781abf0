import type { Terminal } from '../session/terminal.js'

const SHOWN_AFTER_MS = 1000
const REDRAWN_AFTER_MS = 100
const ERASE_LINE = '\r\u001b[K'

/** One line on a person's terminal that tells how far long work is; nothing where nobody watches. */
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

  /** Shows a line for as long as some work takes. */
  async during<T>(text: string, work: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.show(text), REDRAWN_AFTER_MS)
    try {
      return await work
    } finally {
      clearInterval(timer)
      this.end()
    }
  }

  /** Removes the line, so that results stand alone. */
  end(): void {
    if (this.#isDrawn) this.#terminal.err(ERASE_LINE)
    this.#isDrawn = false
  }
}
