import { toError, AppError } from '../../errors/app-error.js'
import type {
  DecisionReceiver,
  ShippedLog,
  ShippingMetrics,
  ShippingState,
} from '../../store/ports/decision-shipping.js'
import { backOffMs } from '../../lib/outbound/back-off.js'
import type { PageBounds, StoredDecision } from '../../store/ports/decision-store.js'

export interface ContinualShippingDeps {
  /** Opens the current local log. Raises AppError `unavailable`. */
  readonly openLog: () => ShippedLog
  readonly receiver: DecisionReceiver
  /** Called after each round. */
  readonly roundEnded: (metrics: ShippingMetrics) => void
}

/** Waits between rounds, in milliseconds. */
export interface RoundIntervals {
  readonly minMs: number
  /** Longest wait after failures, unless the receiver requested a longer one. */
  readonly maxMs: number
  /** From 0 up to, not including, 1. */
  readonly random: () => number
}

/**
 * Ships the local log to one receiver in rounds. The next round retries a failed one from its
 * position.
 */
export class ContinualShipping {
  readonly #deps: ContinualShippingDeps
  #log: ShippedLog | undefined
  #metrics: ShippingMetrics = { shipped: 0, waiting: 0, missing: 0 }
  #round: Promise<void> | undefined
  #isClosed = false
  /** Number of failed rounds since the last that succeeded. */
  #failures = 0
  #requestedPauseMs = 0

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

  /** Wait before the next round in milliseconds, which grows with a random part after failures. */
  pauseMs({ minMs, maxMs, random }: RoundIntervals): number {
    if (this.#failures === 0) return minMs
    return Math.max(
      minMs,
      this.#requestedPauseMs,
      backOffMs(this.#failures, { baseMs: minMs * 2, maxMs, random }),
    )
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
        const stored = await shipBatch({ log, receiver, noteStored: (count) => (shipped += count) })
        if (stored === undefined) break
      }
      this.#failures = 0
    } catch (raw) {
      problem = toError(raw).message
      this.#failures += 1
      this.#requestedPauseMs = raw instanceof AppError ? (raw.retryAfterSeconds ?? 0) * MS_PER_SECOND : 0
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
  /** Called with the number of decisions stored in each part of the batch. */
  readonly noteStored?: (count: number) => void
}

/** Size of a batch, which is one transaction in the shared log. */
const BATCH: PageBounds = { rows: 500, bytes: 2 * 1024 * 1024 }
const MS_PER_SECOND = 1000

/**
 * Ships the next decisions of the local log. Returns the number that the receiver stored, or
 * undefined if there were none. The position advances after decisions were stored or refused
 * permanently. After a crash before that they are sent again. Raises AppError `unavailable`.
 */
export async function shipBatch({
  log,
  receiver,
  bounds = BATCH,
  noteStored,
}: ShippingDeps): Promise<number | undefined> {
  const unshipped = log.next(bounds)
  if (unshipped === undefined) return undefined
  const { epoch } = unshipped.place
  let { afterSeq } = unshipped.place
  return await storeAcceptable(receiver, unshipped.decisions, (decisions, stored) => {
    const throughSeq = decisions.at(-1)?.seq ?? afterSeq
    log.noteShipped({ epoch, afterSeq, throughSeq }, stored)
    afterSeq = throughSeq
    noteStored?.(stored)
  })
}

/**
 * Stores decisions and returns the number stored. A refused batch is halved until only the
 * decisions that the receiver will never accept are skipped, so that they do not block later ones.
 * `noteStored` is called after each part, so that no part is sent again when a later one fails.
 */
async function storeAcceptable(
  receiver: DecisionReceiver,
  decisions: readonly StoredDecision[],
  noteStored: (decisions: readonly StoredDecision[], stored: number) => void,
): Promise<number> {
  let stored = decisions.length
  try {
    await receiver.keep(decisions)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind === 'unavailable') throw raw
    if (decisions.length > 1) {
      const middle = Math.ceil(decisions.length / 2)
      const first = await storeAcceptable(receiver, decisions.slice(0, middle), noteStored)
      return first + (await storeAcceptable(receiver, decisions.slice(middle), noteStored))
    }
    stored = 0
  }
  noteStored(decisions, stored)
  return stored
}
