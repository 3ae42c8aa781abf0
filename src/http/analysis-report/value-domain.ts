/** What is drawn is cut to these sizes: differences, ticks and bins of larger values leave the range of doubles, those of smaller ones have no steps. */
const LARGEST = 1e300
const LEAST = 1e-290
const LEAST_SPREAD = 1e-12

/** A value as it can be drawn. */
export function drawnValue(value: number): number {
  if (Math.abs(value) < LEAST) return 0
  return Math.max(-LARGEST, Math.min(LARGEST, value))
}

/** The ends of an axis for values between `low` and `high`, with so much room beyond them, as a share of the way between. */
export function valueDomain(low: number, high: number, room: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  // A step must be seen beside the values themselves, else an axis has the same tick for ever.
  const spread = (high > low ? Math.max(high - low, size * LEAST_SPREAD) : size) || 1
  return [low - spread * room, high + spread * room]
}
