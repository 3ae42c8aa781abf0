import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import { loadSnapshot } from './load-snapshot.js'
import type { LoadOptions, PolicyLocations } from './load-snapshot.js'
import type { Snapshot } from '../snapshot/snapshot.js'

/** A reload that did not come off; the snapshot before it goes on serving. */
export interface LoadFailure {
  readonly at: Date
  readonly error: AppError
}

/** Called for every load after the first, for the log and the metrics. */
export interface LoadObserver {
  readonly loaded: (snapshot: Snapshot, durationMs: number) => void
  readonly failed: (failure: LoadFailure) => void
}

/** The policies in service: one snapshot at a time, replaced as a whole when a reload succeeds. */
export class Policies {
  readonly locations: PolicyLocations
  readonly #options: LoadOptions
  readonly #observer: LoadObserver
  #current: Snapshot
  #activatedAt = new Date()
  #failure: LoadFailure | undefined
  #loading: Promise<void> = Promise.resolve()
  /** The load that begins when the one under way has ended. */
  #waiting: Promise<void> | undefined
  #activating: (snapshot: Snapshot) => Promise<void> = () => Promise.resolve()

  private constructor(
    locations: PolicyLocations,
    options: LoadOptions,
    observer: LoadObserver,
    current: Snapshot,
  ) {
    this.locations = locations
    this.#options = options
    this.#observer = observer
    this.#current = current
  }

  /** Loads for the first time. Raises what `loadSnapshot` raises: a service without policies must not start. */
  static async open(
    locations: PolicyLocations,
    options: LoadOptions,
    observer: LoadObserver,
  ): Promise<Policies> {
    const snapshot = await loadSnapshot(locations, options)
    return new Policies(locations, options, observer, snapshot)
  }

  get current(): Snapshot {
    return this.#current
  }

  get activatedAt(): Date {
    return this.#activatedAt
  }

  /** The last reload's failure, until one succeeds. */
  get failure(): LoadFailure | undefined {
    return this.#failure
  }

  /**
   * Has other processes activate each snapshot that is loaded from now on; it serves here once they have, and
   * where that rejects, the one before it stays. */
  beforeActivation(activating: (snapshot: Snapshot) => Promise<void>): void {
    this.#activating = activating
  }

  /**
   * Loads once more, after the load under way, and swaps the snapshot; on failure the old one stays. What is asked for while another
   * load waits is that one: however often files change, two loads see all of it. Never rejects.
   */
  reload(): Promise<void> {
    this.#waiting ??= this.#loading.then(() => {
      this.#waiting = undefined
      return this.#reload()
    })
    this.#loading = this.#waiting
    return this.#loading
  }

  async #reload(): Promise<void> {
    const startedAt = performance.now()
    try {
      const snapshot = await loadSnapshot(this.locations, this.#options)
      await this.#activating(snapshot)
      this.#current = snapshot
      this.#activatedAt = new Date()
      this.#failure = undefined
      this.#observer.loaded(snapshot, performance.now() - startedAt)
    } catch (raw) {
      this.#failure = { at: new Date(), error: toAppError(raw) }
      this.#observer.failed(this.#failure)
    }
  }
}
