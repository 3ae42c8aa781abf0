import type { CleanSides } from './metric-tests.js'

/** Sides that lie further apart than so many times the wider of their ranges do so whatever their dependence in time. */
const LEAST_GAP_IN_RANGES = 3

/** Whether no value of one side comes near any of the other. */
export function farApart({ control, experiment }: CleanSides): boolean {
  const [x, y] = [experiment.sorted, control.sorted]
  const [lowX, highX, lowY, highY] = [x[0] ?? 0, x.at(-1) ?? 0, y[0] ?? 0, y.at(-1) ?? 0]
  const gap = Math.max(lowX - highY, lowY - highX)
  return gap > LEAST_GAP_IN_RANGES * Math.max(highX - lowX, highY - lowY)
}
