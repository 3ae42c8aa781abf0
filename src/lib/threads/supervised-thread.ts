import type { Worker } from 'node:worker_threads'
import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'

/** That a thread ended which nobody had let go. */
export interface ThreadDeath {
  /** As it reads in a sentence: "the thread that writes tidegate.db". */
  readonly thread: string
  readonly reason: string
  /** How many times it has ended within five minutes. */
  readonly recent: number
}

export interface SupervisedThreadOptions {
  /** As it reads in a sentence: "the thread that writes tidegate.db". */
  readonly name: string
  readonly start: () => Worker
  readonly died?: ((death: ThreadDeath) => void) | undefined
  /** Milliseconds of a clock that nobody sets. */
  readonly now?: () => number
}

const RECENT_MS = 300_000
/** Once may be chance. */
const DEATHS_THAT_ARE_A_PROBLEM = 3
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/**
 * A thread that works as long as the process: it starts when it is first needed, and again after it died, at once the first time and
 * after longer and longer pauses when it dies again. What it was doing when it died has failed; that is for its user to tell.
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

  /** The thread at work, where there is one. */
  get current(): Worker | undefined {
    return this.#thread
  }

  /** Why the thread cannot be relied on; undefined while it can. */
  get problem(): string | undefined {
    const deaths = this.#recentDeaths().length
    if (deaths < DEATHS_THAT_ARE_A_PROBLEM) return undefined
    return `${this.#options.name} has ended ${deaths} times within five minutes (${this.#reason}); it is started again every so often`
  }

  /** The thread, which is started when there is none. Raises `unavailable` during the pause after it died repeatedly. */
  take(): Worker {
    if (this.#thread !== undefined) return this.#thread
    const deaths = this.#recentDeaths()
    const pauseMs =
      deaths.length < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (deaths.length - 2), LONGEST_PAUSE_MS)
    if (this.#now() - (deaths.at(-1) ?? -Infinity) < pauseMs) {
      throw new AppError(
        'unavailable',
        `${this.#options.name} has stopped (${this.#reason}) and is started again shortly; try again`,
      )
    }
    return this.#start()
  }

  /** Lets the thread go: its end is no death, and the next `take` starts another. */
  release(): Worker | undefined {
    const thread = this.#thread
    this.#thread = undefined
    return thread
  }

  #start(): Worker {
    const thread = this.#options.start()
    this.#thread = thread
    let reason = 'it ended by itself'
    // An error is followed by the exit; without a listener it would end the process.
    thread.on('error', (raw: unknown) => {
      reason = hasErrorCode(raw, 'ERR_WORKER_OUT_OF_MEMORY') ? 'out of memory' : toError(raw).message
    })
    thread.once('exit', () => {
      if (this.#thread !== thread) return
      this.#thread = undefined
      this.#reason = reason
      this.#deathTimes = [...this.#recentDeaths(), this.#now()]
      this.#options.died?.({ thread: this.#options.name, reason, recent: this.#deathTimes.length })
    })
    return thread
  }

  #recentDeaths(): readonly number[] {
    return this.#deathTimes.filter((atMs) => this.#now() - atMs < RECENT_MS)
  }
}
