import type { DecisionPosition, DecisionReadStore, StoredDecision } from '../store/ports/decision-store.js'

/** Decisions since the last read, oldest first. */
export interface NewDecisions {
  readonly decisions: readonly StoredDecision[]
  /** Number of new decisions that were not read, because there were too many. */
  readonly dropped: number
  /** Number of the newest one, for the next read. */
  readonly lastSeq: number
}

const PAGE = { rows: 200, bytes: 8 * 1024 * 1024 }

/**
 * Reads at most `maxDecisions` decisions with numbers above `afterSeq`, the newest ones. A log that
 * was started anew has lower numbers and is followed from its newest decision on.
 */
export async function readNewDecisions(
  store: Pick<DecisionReadStore, 'page'>,
  afterSeq: number,
  maxDecisions: number,
): Promise<NewDecisions> {
  const found: StoredDecision[] = []
  let isOver = false
  for (let after: DecisionPosition | undefined; !isOver;) {
    const { decisions, next } = await store.page({}, PAGE, after)
    for (const decision of decisions) {
      isOver = decision.seq <= afterSeq || found.length === maxDecisions
      if (isOver) break
      found.push(decision)
    }
    if (next === undefined) break
    after = next
  }
  const lastSeq = await newestSeq(store, found)
  const dropped = Math.max(0, lastSeq - Math.min(afterSeq, lastSeq) - found.length)
  return { decisions: found.reverse(), dropped, lastSeq }
}

async function newestSeq(
  store: Pick<DecisionReadStore, 'page'>,
  found: readonly StoredDecision[],
): Promise<number> {
  if (found.length > 0) return found.reduce((newest, { seq }) => Math.max(newest, seq), 0)
  const { decisions } = await store.page({}, { rows: 1, bytes: 1, withInputs: false })
  return decisions[0]?.seq ?? 0
}
