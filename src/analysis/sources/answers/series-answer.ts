import type { SeriesAnswer } from '../../sources.js'
import { failedSeries } from './answers.js'
import type { SeriesBuilder } from './series-builder.js'
import type { StepGrid } from './step-grid.js'

/** The state after all readable data has been read. */
export interface SeriesReading {
  readonly query: string
  readonly grid: StepGrid
  readonly builder: SeriesBuilder
  /** A series for each label, if requested. */
  readonly units?: ReadonlyMap<string, SeriesBuilder> | undefined
  /** Steps that a limit left out. */
  readonly truncatedPoints: number
  /** Why something is missing. */
  readonly gaps: readonly string[]
  readonly warnings: readonly string[]
}

/** The answer to a query for a series. */
export function seriesAnswer(reading: SeriesReading): SeriesAnswer {
  const { query, grid, builder, units, truncatedPoints } = reading
  const { values, infinite, collisions, contradiction } = builder.build()
  if (contradiction !== undefined) {
    const { atMs, values: both } = contradiction
    return failedSeries(
      query,
      grid,
      `${new Date(atMs).toISOString()} has the values ${both.join(' and ')}: keep one of them, or set how values are joined (aggregate: sum, average, min or max)`,
    )
  }
  if (collisions > 0) {
    return failedSeries(
      query,
      grid,
      `steps with several values: ${collisions}; say how they are joined (aggregate: sum, average, min or max)`,
    )
  }
  const reasons = [...reading.gaps, ...truncation(grid, truncatedPoints)]
  const isEmpty = values.every(Number.isNaN)
  return {
    state: reasons.length > 0 ? 'incomplete' : isEmpty ? 'empty' : 'complete',
    reasons,
    warnings: [
      ...reading.warnings,
      ...(infinite > 0 ? [`infinite values, which count as gaps: ${infinite}`] : []),
    ],
    query,
    startMs: grid.startMs,
    stepMs: grid.stepMs,
    values,
    truncatedPoints,
    ...(units !== undefined && units.size > 1 && { units: unitsOf(units) }),
    ...(infinite > 0 && { infinitePoints: infinite }),
  }
}

function truncation({ count }: StepGrid, truncatedPoints: number): string[] {
  if (truncatedPoints === 0) return []
  return [
    `the window has ${count + truncatedPoints} steps and the limit (maxPoints) is ${count}: the last ${truncatedPoints} are left out`,
  ]
}

/** Sorted by label, so that the same series give the same answer in any order. */
function unitsOf(units: ReadonlyMap<string, SeriesBuilder>): Float64Array[] {
  return [...units].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, unit]) => unit.build().values)
}
