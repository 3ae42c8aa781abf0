import type { Leases, WorkLease } from '../../store/ports/leases.js'

/** Work that is done every so often, as `repeat` takes it. */
type Act = (signal: AbortSignal) => Promise<unknown>

/**
 * What one process does for all that share a store: looking for differences, removing what is old, checkpoints. The first to ask leads
 * until it ends or loses the store; then another does.
 */
export class Leadership {
  readonly #leases: Leases
  #lease: WorkLease | undefined
  #taking: Promise<void> | undefined

  constructor(leases: Leases) {
    this.#leases = leases
  }

  /** The same work, done where this process leads; its signal is aborted when it leads no more. */
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
