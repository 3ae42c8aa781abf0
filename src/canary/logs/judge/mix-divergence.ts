import type { EventGroup } from './event-group.js'

/**
 * How different the two mixes of templates are: the Jensen-Shannon divergence in bits, 0 for the same shares and 1 for
 * nothing in common. Null where a side has no events.
 */
export function mixDivergence(groups: readonly EventGroup[]): number | null {
  const before = groups.reduce((sum, { baseline }) => sum + baseline.events, 0)
  const now = groups.reduce((sum, { canary }) => sum + canary.events, 0)
  if (before === 0 || now === 0) return null
  return groups.reduce((sum, { baseline, canary }) => {
    const p = baseline.events / before
    const q = canary.events / now
    return sum + (surprise(p, q) + surprise(q, p)) / 2
  }, 0)
}

function surprise(share: number, other: number): number {
  return share === 0 ? 0 : share * Math.log2((2 * share) / (share + other))
}
