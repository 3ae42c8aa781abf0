import { toError, AppError } from '../errors/app-error.js'
import type { DecisionReceiver, ShippedLog, ShippingFigures, ShippingState } from '../store/ports/decision-shipping.js'
import type { PageBounds, StoredDecision } from '../store/ports/decision-store.js'

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

interface ShippingDeps {
  readonly log: ShippedLog
  readonly receiver: DecisionReceiver
  readonly bounds?: PageBounds
}

/** Of one batch, which is one transaction there. */
const BATCH: PageBounds = { rows: 500, bytes: 2 * 1024 * 1024 }

/**
 * Takes the next decisions of the local log to the shared one; returns how many are there now, undefined when nothing was left. Only
 * what is kept there is passed by here: whatever ends this in between, they come again, and are kept once. Raises AppError `unavailable`.
 */
export async function shipBatch({
  log,
  receiver,
  bounds = BATCH,
}: ShippingDeps): Promise<number | undefined> {
  const unshipped = log.next(bounds)
  if (unshipped === undefined) return undefined
  const kept = await keepAll(receiver, unshipped.decisions)
  log.noteShipped(unshipped.place, kept)
  return kept
}

/** One that the other side will never take must not hold up all that come behind it. */
async function keepAll(receiver: DecisionReceiver, decisions: readonly StoredDecision[]): Promise<number> {
  try {
    await receiver.keep(decisions)
    return decisions.length
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind === 'unavailable') throw raw
    if (decisions.length === 1) return 0
    const middle = Math.ceil(decisions.length / 2)
    const first = await keepAll(receiver, decisions.slice(0, middle))
    return first + (await keepAll(receiver, decisions.slice(middle)))
  }
}
