import type { CleanSides } from './metric-tests.js'

/** Sides that lie further apart than so many times the wider of their ranges do so whatever their dependence in time. */
const LEAST_GAP_IN_RANGES = 3

/** Where the experiment lies when no value of one side comes near any of the other; undefined when some do. */
export function farApart({ control, experiment }: CleanSides): 'above' | 'below' | undefined {
  const [x, y] = [experiment.sorted, control.sorted]
  const [lowX, highX, lowY, highY] = [x[0] ?? 0, x.at(-1) ?? 0, y[0] ?? 0, y.at(-1) ?? 0]
  const near = LEAST_GAP_IN_RANGES * Math.max(highX - lowX, highY - lowY)
  if (lowX - highY > near) return 'above'
  return lowY - highX > near ? 'below' : undefined
}
