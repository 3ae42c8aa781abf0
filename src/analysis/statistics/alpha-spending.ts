import { normalUpperQuantile, normalUpperTail } from './normal.js'

/** Which of the planned looks at the data of a run this is. */
export interface PlannedLook {
  readonly look: number
  readonly looks: number
  /** The look that was taken before it, 0 for none; where nothing is said, the one just before. */
  readonly after?: number | undefined
}

/**
 * The error that one of several looks may make: what the spending of O'Brien and Fleming's kind (Lan and DeMets 1983), 2 - 2
 * Phi(z / sqrt(t)) at the share t of the run, allows now and had not allowed at the look before. However the looks hang together,
 * they spend no more than `alpha` in all. All of it where there is one look only.
 */
export function spendAlpha(alpha: number, planned: PlannedLook | undefined): number {
  if (planned === undefined) return alpha
  const { look, looks, after = look - 1 } = planned
  const z = normalUpperQuantile(alpha / 2)
  const upTo = (done: number): number => (done === 0 ? 0 : 2 * normalUpperTail(z / Math.sqrt(done / looks)))
  return upTo(look) - upTo(after)
}
