import { setImmediate } from 'node:timers/promises'

import type { DecisionQueryDeps } from './query-decisions.js'

/** Denials by a package. */
export interface PackageRefusals {
  /** As in Rego: `app.rules`. */
  readonly package: string
  /** Denials of each period, oldest first. */
  readonly counts: readonly number[]
  /** At most `MAX_COUNTED`, the newest. */
  readonly total: number
  /** True if there are more than `total`. */
  readonly isMore: boolean
}

/** Equal periods that end now. Times are in milliseconds. */
export interface Periods {
  readonly toMs: number
  readonly periodMs: number
  readonly count: number
}

/** Denials counted for one package. */
const MAX_COUNTED = 10_000

/**
 * Counts denials by package and period. Other work runs between two packages, since counting uses
 * the thread of decisions.
 */
export async function countRefusals(
  { store, log }: DecisionQueryDeps,
  packages: readonly string[],
  { toMs, periodMs, count }: Periods,
): Promise<readonly PackageRefusals[]> {
  await log.flush()
  const fromMs = toMs - count * periodMs
  const refusals: PackageRefusals[] = []
  for (const name of packages) {
    const found = await store.denials({ package: name, fromMs, periodMs }, MAX_COUNTED + 1)
    const counts = Array.from(
      { length: count },
      (_, period) => found.find((each) => each.period === period)?.count ?? 0,
    )
    const total = found.reduce((sum, each) => sum + each.count, 0)
    refusals.push({ package: name, counts, total: Math.min(total, MAX_COUNTED), isMore: total > MAX_COUNTED })
    await setImmediate()
  }
  return refusals
}
