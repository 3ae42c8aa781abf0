import { setImmediate } from 'node:timers/promises'

/** So long a thread may be at one piece of work before it does what else there is to do. */
const TURN_MS = 5

/** Long work of a thread that answers requests, in short turns. */
export class ShortTurns {
  #beganAt = performance.now()

  /** To be called every millisecond or so of the work: lets others have a turn when this one has lasted long enough. */
  async pause(): Promise<void> {
    if (performance.now() - this.#beganAt < TURN_MS) return
    await setImmediate()
    this.#beganAt = performance.now()
  }
}
