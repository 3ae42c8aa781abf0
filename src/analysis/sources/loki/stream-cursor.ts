import type { StreamEntry } from './read-streams.js'

/** Where the next page starts, and what of it has been seen. */
export interface StreamCursor {
  readonly startNs: bigint
  /** How often each entry at `startNs` has been given already, by its identity. */
  readonly seen: ReadonlyMap<string, number>
}

/** What a page adds, and how to go on. */
export interface PageStep {
  readonly fresh: readonly StreamEntry[]
  readonly next: StreamCursor
  /** The page was full of one instant: what else it holds cannot be reached, since times are all there is to page by. */
  readonly isStuck: boolean
}

/** Before the first page. */
export function firstCursor(startMs: number): StreamCursor {
  return { startNs: BigInt(Math.ceil(startMs)) * 1_000_000n, seen: new Map() }
}

/**
 * Goes on after a page that may not be the last. The next one starts at the last instant of this one, since more entries of
 * that instant may follow; those that were given already are then dropped.
 */
export function stepOver(page: readonly StreamEntry[], { startNs, seen }: StreamCursor): PageStep {
  const fresh = dropSeen(page, startNs, seen)
  const lastNs = page.at(-1)?.atNs ?? startNs
  const isStuck = lastNs === startNs
  const next: StreamCursor = isStuck
    ? { startNs: startNs + 1n, seen: new Map() }
    : { startNs: lastNs, seen: countAt(page, lastNs) }
  return { fresh, next, isStuck }
}

function dropSeen(
  page: readonly StreamEntry[],
  startNs: bigint,
  seen: ReadonlyMap<string, number>,
): readonly StreamEntry[] {
  if (seen.size === 0) return page
  const left = new Map(seen)
  return page.filter(({ atNs, identity }) => {
    const count = atNs === startNs ? (left.get(identity) ?? 0) : 0
    if (count > 0) left.set(identity, count - 1)
    return count === 0
  })
}

function countAt(page: readonly StreamEntry[], ns: bigint): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { atNs, identity } of page) {
    if (atNs === ns) counts.set(identity, (counts.get(identity) ?? 0) + 1)
  }
  return counts
}
