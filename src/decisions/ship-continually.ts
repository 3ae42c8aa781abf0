import { toError } from '../errors/app-error.js'
import type {
  DecisionReceiver,
  ShippedLog,
  ShippingFigures,
  ShippingState,
} from '../store/ports/decision-shipping.js'
import { shipBatch } from './ship-decisions.js'

export interface ContinualShippingDeps {
  /** Opens the local log, as it is or as it was begun anew. Raises AppError `unavailable`. */
  readonly openLog: () => ShippedLog
  readonly receiver: DecisionReceiver
  /** Told after each round. */
  readonly told: (figures: ShippingFigures) => void
}

/** Takes the local log to the shared one, round after round; what fails is tried again in the next one, from where it was. */
export class ContinualShipping {
  readonly #deps: ContinualShippingDeps
  #log: ShippedLog | undefined
  #figures: ShippingFigures = { shipped: 0, waiting: 0, missing: 0 }
  #round: Promise<void> | undefined
  #isClosed = false

  constructor(deps: ContinualShippingDeps) {
    this.#deps = deps
  }

  /** Ships what is there now; never rejects. Whoever asks during a round waits for one more, which sees what the first did not. */
  async catchUp(): Promise<void> {
    await this.#round
    this.#round ??= this.#ship().finally(() => {
      this.#round = undefined
    })
    await this.#round
  }

  /** Ends after the batch under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#round
    this.#closeLog()
    await this.#deps.receiver.close()
  }

  async #ship(): Promise<void> {
    const { openLog, receiver, told } = this.#deps
    let problem: string | undefined
    let { shipped } = this.#figures
    try {
      const log = (this.#log ??= openLog())
      while (!this.#isClosed) {
        const kept = await shipBatch({ log, receiver })
        if (kept === undefined) break
        shipped += kept
      }
    } catch (raw) {
      problem = toError(raw).message
    }
    this.#figures = { ...this.#state(), shipped, problem }
    // The file may be another one by now: the next round opens what is at its path.
    if (problem !== undefined) this.#closeLog()
    told(this.#figures)
  }

  #state(): ShippingState {
    const { waiting, missing } = this.#figures
    try {
      return this.#log?.state() ?? { waiting, missing }
    } catch {
      return { waiting, missing }
    }
  }

  #closeLog(): void {
    this.#log?.close()
    this.#log = undefined
  }
}
