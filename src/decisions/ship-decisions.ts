import { AppError } from '../errors/app-error.js'
import type { DecisionReceiver, ShippedLog } from '../store/ports/decision-shipping.js'
import type { PageBounds, StoredDecision } from '../store/ports/decision-store.js'

export interface ShippingDeps {
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
