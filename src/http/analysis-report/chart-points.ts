import { extent } from 'd3-array'

import type { MetricData, SeriesData } from '../../analysis/runs/intervals/interval-data.js'

/** More points than pixels only make a chart heavy. */
const MAX_POINTS = 640

/** A value so long after the start of its side. */
export interface Point {
  readonly ms: number
  readonly value: number | null
}

/** The points of a side that are drawn; of each stretch of many its least and its greatest value, so that no spike is lost. */
export function chartPoints({ values, stepMs }: SeriesData): readonly Point[] {
  const points = values.map((value, index) => ({
    ms: index * stepMs,
    value: value === null ? null : drawnValue(value),
  }))
  return points.length <= MAX_POINTS ? points : downsample(points)
}

/** More units would hide each other. */
const MAX_UNITS = 20

/** What a chart of both sides shows, the baseline first. */
export interface ChartLines {
  readonly sides: readonly [readonly Point[], readonly Point[]]
  /** Of each side, the lines of its units. */
  readonly units: readonly [readonly (readonly Point[])[], readonly (readonly Point[])[]]
  /** The least and the greatest value of all lines; undefined where there is none. */
  readonly range: readonly [low: number, high: number] | undefined
  /** From the start of a side to the last point of either; at least 1. */
  readonly durationMs: number
}

/** The lines of both sides, and what they reach. */
export function chartLines({ baseline, canary }: Pick<MetricData, 'baseline' | 'canary'>): ChartLines {
  const sides = [chartPoints(baseline), chartPoints(canary)] as const
  const units = [unitPoints(baseline), unitPoints(canary)] as const
  const values = [...sides, ...units.flat()].flat().flatMap(({ value }) => (value === null ? [] : [value]))
  const [low, high] = extent(values)
  return {
    ...{ sides, units, range: low === undefined ? undefined : [low, high] },
    durationMs: Math.max(...sides.map((points) => points.at(-1)?.ms ?? 0), 1),
  }
}

/** The points of each of a side's units, where it has several: one of them may be what a report is about. */
function unitPoints(side: SeriesData): readonly (readonly Point[])[] {
  return (side.units ?? []).slice(0, MAX_UNITS).map((values) => chartPoints({ ...side, values }))
}

function downsample(points: readonly Point[]): readonly Point[] {
  const size = Math.ceil((points.length / MAX_POINTS) * 2)
  const kept: Point[] = []
  for (let first = 0; first < points.length; first += size) {
    const known = points.slice(first, first + size).filter(({ value }) => value !== null)
    const gap = points[first]
    if (known.length === 0) {
      if (gap !== undefined) kept.push(gap)
      continue
    }
    const sorted = known.toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0))
    const ends = [sorted[0], sorted.at(-1)].filter((point) => point !== undefined)
    kept.push(...ends.toSorted((a, b) => a.ms - b.ms))
  }
  return kept
}

/** What is drawn is cut to these sizes: differences, ticks and bins of larger values leave the range of doubles, those of smaller ones have no steps. */
const MAX_MAGNITUDE = 1e300
const MIN_MAGNITUDE = 1e-290
const MIN_SPREAD = 1e-12

/** A value as it can be drawn. */
export function drawnValue(value: number): number {
  if (Math.abs(value) < MIN_MAGNITUDE) return 0
  return Math.max(-MAX_MAGNITUDE, Math.min(MAX_MAGNITUDE, value))
}

/** The ends of an axis for values between `low` and `high`, with so much room beyond them, as a share of the way between. */
export function valueDomain(low: number, high: number, room: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  // A step must be seen beside the values themselves, else an axis has the same tick for ever.
  const spread = (high > low ? Math.max(high - low, size * MIN_SPREAD) : size) || 1
  return [low - spread * room, high + spread * room]
}
