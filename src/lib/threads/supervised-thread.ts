import type { Worker } from 'node:worker_threads'
import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'

/** The unexpected end of a thread. */
export interface ThreadDeath {
  /** Name for use in a sentence: "the thread that writes tidegate.db". */
  readonly thread: string
  readonly reason: string
  /** Number of crashes within five minutes, including this one. */
  readonly recentCrashes: number
}

export interface SupervisedThreadOptions {
  /** Name for use in a sentence: "the thread that writes tidegate.db". */
  readonly name: string
  readonly start: () => Worker
  readonly died?: ((death: ThreadDeath) => void) | undefined
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
}

const RECENT_MS = 300_000
/** Crashes within five minutes that are reported as a problem. One or two may be accidental. */
const PROBLEM_DEATHS = 3
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/**
 * A thread that runs as long as the process. It starts on demand and restarts after a crash:
 * immediately the first time, with growing pauses if it crashes again. Its user must report the
 * work that failed.
 */
export class SupervisedThread {
  readonly #options: SupervisedThreadOptions
  readonly #now: () => number
  #thread: Worker | undefined
  #reason = ''
  #deathTimes: number[] = []

  constructor(options: SupervisedThreadOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  get current(): Worker | undefined {
    return this.#thread
  }

  /** Why the thread is unreliable. Undefined if it is not. */
  get problem(): string | undefined {
    const deaths = this.#recentDeaths().length
    if (deaths < PROBLEM_DEATHS) return undefined
    return `${this.#options.name} has ended ${deaths} times within five minutes (${this.#reason}); it is restarted after a pause`
  }

  /**
   * Returns the thread, starting it if needed. Throws `unavailable` during the pause after repeated
   * crashes.
   */
  take(): Worker {
    if (this.#thread !== undefined) return this.#thread
    const deaths = this.#recentDeaths()
    const pauseMs = deaths.length < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (deaths.length - 2), MAX_PAUSE_MS)
    if (this.#now() - (deaths.at(-1) ?? -Infinity) < pauseMs) {
      throw new AppError(
        'unavailable',
        `${this.#options.name} has stopped (${this.#reason}) and is restarted shortly; try again`,
      )
    }
    return this.#start()
  }

  /** Releases the thread: its end does not count as a crash, and the next `take` starts another. */
  release(): Worker | undefined {
    const thread = this.#thread
    this.#thread = undefined
    return thread
  }

  #start(): Worker {
    const thread = this.#options.start()
    this.#thread = thread
    let reason = 'it ended unexpectedly'
    // An `error` event precedes the exit. Without a listener it would end the process.
    thread.on('error', (raw: unknown) => {
      reason = hasErrorCode(raw, 'ERR_WORKER_OUT_OF_MEMORY') ? 'out of memory' : toError(raw).message
    })
    thread.once('exit', () => {
      if (this.#thread !== thread) return
      this.#thread = undefined
      this.#reason = reason
      this.#deathTimes = [...this.#recentDeaths(), this.#now()]
      this.#options.died?.({ thread: this.#options.name, reason, recentCrashes: this.#deathTimes.length })
    })
    return thread
  }

  #recentDeaths(): readonly number[] {
    return this.#deathTimes.filter((atMs) => this.#now() - atMs < RECENT_MS)
  }
}
