import { extent } from 'd3-array'

import type { MetricData, SeriesData } from '../../analysis/runs/intervals/interval-data.js'

/** Maximum points per line; more than one per pixel only makes the chart larger. */
const MAX_POINTS = 640

/** A value at a time after the start of its side, in milliseconds. */
export interface Point {
  readonly ms: number
  readonly value: number | null
}

/**
 * Returns the points to draw for one side. Long series keep the minimum and maximum of each
 * stretch, so that no spike is lost.
 */
function chartPoints({ values, stepMs }: SeriesData): readonly Point[] {
  const points = values.map((value, index) => ({
    ms: index * stepMs,
    value: value === null ? null : drawnValue(value),
  }))
  return points.length <= MAX_POINTS ? points : downsample(points)
}

/** Maximum units drawn per side; more would hide each other. */
const MAX_UNITS = 20

/** The lines of a chart, baseline first. */
export interface ChartLines {
  readonly sides: readonly [readonly Point[], readonly Point[]]
  /** The lines of each side's units. */
  readonly units: readonly [readonly (readonly Point[])[], readonly (readonly Point[])[]]
  /** Minimum and maximum of all lines; undefined if there is no value. */
  readonly range: readonly [low: number, high: number] | undefined
  /**
   * Time from the start of a side to the last point of either side, in milliseconds; at least 1.
   */
  readonly durationMs: number
}

/** Returns the lines of both sides and their range. */
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

/** Returns the points of each unit of a side that has several. */
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

/**
 * Drawn values are clamped to these magnitudes. Differences and ticks of larger values overflow
 * doubles, and smaller values have no steps.
 */
const MAX_MAGNITUDE = 1e300
const MIN_MAGNITUDE = 1e-290
const MIN_SPREAD = 1e-12

/** Clamps a value to the drawable range. */
export function drawnValue(value: number): number {
  if (Math.abs(value) < MIN_MAGNITUDE) return 0
  return Math.max(-MAX_MAGNITUDE, Math.min(MAX_MAGNITUDE, value))
}

/**
 * Returns the ends of an axis for values from `low` to `high`. `padding` is, as a share of
 * the spread.
 */
export function valueDomain(low: number, high: number, padding: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  // The spread must be large relative to the values; otherwise an axis repeats the same tick
  // forever.
  const spread = (high > low ? Math.max(high - low, size * MIN_SPREAD) : size) || 1
  return [low - spread * padding, high + spread * padding]
}
