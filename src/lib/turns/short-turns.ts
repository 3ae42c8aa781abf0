import { setImmediate } from 'node:timers/promises'

/** Maximum time that a piece of work may block the thread, in milliseconds. */
const TURN_MS = 5

/** Splits long work of a thread that serves requests into short turns. */
export class ShortTurns {
  #beganAt = performance.now()

  /**
   * Call this about every millisecond of the work. Lets other work run if the turn has lasted long
   * enough.
   */
  async pause(): Promise<void> {
    if (performance.now() - this.#beganAt < TURN_MS) return
    await setImmediate()
    this.#beganAt = performance.now()
  }
}
