import type { Leases, WorkLease } from '../../store/ports/leases.js'

/** A periodic task, as for `repeat`. */
type Act = (signal: AbortSignal) => Promise<unknown>

/**
 * Limits periodic work to one of the processes that share a store: reconciling, removing old data,
 * checkpoints. The first to claim the lead keeps it until it ends or loses the store.
 */
export class Leadership {
  readonly #leases: Leases
  #lease: WorkLease | undefined
  #taking: Promise<void> | undefined

  constructor(leases: Leases) {
    this.#leases = leases
  }

  /**
   * Wraps a task so that it runs only while this process leads. The signal is aborted when it loses
   * the lead.
   */
  led(act: Act): (signal: AbortSignal) => Promise<void> {
    return async (signal) => {
      const lost = await this.#lead()
      if (lost !== undefined) await act(AbortSignal.any([signal, lost]))
    }
  }

  async #lead(): Promise<AbortSignal | undefined> {
    if (this.#lease === undefined || this.#lease.lost.aborted) {
      this.#taking ??= this.#take().finally(() => {
        this.#taking = undefined
      })
      await this.#taking
    }
    return this.#lease?.lost
  }

  async #take(): Promise<void> {
    this.#lease = await this.#leases.take('leader', 'upkeep')
  }
}
