import { toError, AppError } from '../errors/app-error.js'
import type {
  DecisionReceiver,
  ShippedLog,
  ShippingMetrics,
  ShippingState,
} from '../store/ports/decision-shipping.js'
import type { PageBounds, StoredDecision } from '../store/ports/decision-store.js'

export interface ContinualShippingDeps {
  /** Opens the current local log. Raises AppError `unavailable`. */
  readonly openLog: () => ShippedLog
  readonly receiver: DecisionReceiver
  /** Called after each round. */
  readonly roundEnded: (metrics: ShippingMetrics) => void
}

/**
 * Ships the local log to the shared one in rounds. The next round retries a failed one from its
 * position.
 */
export class ContinualShipping {
  readonly #deps: ContinualShippingDeps
  #log: ShippedLog | undefined
  #metrics: ShippingMetrics = { shipped: 0, waiting: 0, missing: 0 }
  #round: Promise<void> | undefined
  #isClosed = false

  constructor(deps: ContinualShippingDeps) {
    this.#deps = deps
  }

  /**
   * Ships all current decisions. Never rejects. A call during a round waits for another round,
   * which sees later decisions.
   */
  async catchUp(): Promise<void> {
    await this.#round
    this.#round ??= this.#ship().finally(() => {
      this.#round = undefined
    })
    await this.#round
  }

  /** Stops after the current batch. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#round
    this.#closeLog()
    await this.#deps.receiver.close()
  }

  async #ship(): Promise<void> {
    const { openLog, receiver, roundEnded } = this.#deps
    let problem: string | undefined
    let { shipped } = this.#metrics
    try {
      const log = (this.#log ??= openLog())
      while (!this.#isClosed) {
        const stored = await shipBatch({ log, receiver })
        if (stored === undefined) break
        shipped += stored
      }
    } catch (raw) {
      problem = toError(raw).message
    }
    this.#metrics = { ...this.#state(), shipped, problem }
    // The file may have been replaced: the next round opens the one at the path.
    if (problem !== undefined) this.#closeLog()
    roundEnded(this.#metrics)
  }

  #state(): ShippingState {
    const { waiting, missing } = this.#metrics
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

/** Size of a batch, which is one transaction in the shared log. */
const BATCH: PageBounds = { rows: 500, bytes: 2 * 1024 * 1024 }

/**
 * Ships the next decisions of the local log. Returns the number that the shared log stored, or
 * undefined if there were none. The position advances after the decisions were stored or refused
 * permanently. After a crash before that they are sent again and stored once. Raises AppError
 * `unavailable`.
 */
export async function shipBatch({
  log,
  receiver,
  bounds = BATCH,
}: ShippingDeps): Promise<number | undefined> {
  const unshipped = log.next(bounds)
  if (unshipped === undefined) return undefined
  const stored = await storeAcceptable(receiver, unshipped.decisions)
  log.noteShipped(unshipped.place, stored)
  return stored
}

/**
 * Stores decisions and returns the number stored. A refused batch is halved until only the
 * decisions that the shared log will never accept are skipped, so that they do not block later
 * ones.
 */
async function storeAcceptable(
  receiver: DecisionReceiver,
  decisions: readonly StoredDecision[],
): Promise<number> {
  try {
    await receiver.keep(decisions)
    return decisions.length
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind === 'unavailable') throw raw
    if (decisions.length === 1) return 0
    const middle = Math.ceil(decisions.length / 2)
    const first = await storeAcceptable(receiver, decisions.slice(0, middle))
    return first + (await storeAcceptable(receiver, decisions.slice(middle)))
  }
}
