import type { MetricData, SeriesData } from '../intervals/interval-data.js'

/**
 * How a baseline and a canary are made of one version's past: `pods` gives half of the pods to each
 * side, `points` every other point of twice the time, `earlier` compares with the time that
 * `baselineOffsetMinutes` names, as the runs do.
 */
export type Pairing = 'pods' | 'points' | 'earlier'

/** Minimum number of pods that are divided: two for each side. */
const MIN_PODS = 4

/** A metric of two sides that had the same version. */
export interface PseudoPair {
  readonly pairing: Pairing
  readonly data: MetricData
}

/**
 * Makes a pair of two consecutive stretches of one version: `canary` the first, `baseline` the one
 * that follows. `turn` exchanges which half of the pods, or which points, are the canary.
 */
export function pseudoPair(
  { baseline: later, canary: first, exposure }: MetricData,
  turn: number,
): PseudoPair {
  const pods = Math.min(first.units?.length ?? 0, exposure?.canary.units?.length ?? Infinity)
  const deal = pods >= MIN_PODS ? podsOf : pointsOf
  const dealt = (one: SeriesData, other: SeriesData): Pick<MetricData, 'baseline' | 'canary'> => ({
    baseline: deal(one, other, turn % 2),
    canary: deal(one, other, (turn + 1) % 2),
  })
  return {
    pairing: pods >= MIN_PODS ? 'pods' : 'points',
    data: {
      ...dealt(first, later),
      ...(exposure && { exposure: dealt(exposure.canary, exposure.baseline) }),
    },
  }
}

/** Every other pod of the first stretch. */
function podsOf(first: SeriesData, _: SeriesData, remainder: number): SeriesData {
  const units = (first.units ?? []).filter((_unit, index) => index % 2 === remainder)
  const values = first.values.map((_value, place) => meanAt(units, place))
  return { ...first, values, units }
}

function meanAt(units: readonly SeriesData['values'][], place: number): number | null {
  const known = units.flatMap((unit) => unit[place] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value / known.length, 0)
}

/** Every other point of both stretches. */
function pointsOf(first: SeriesData, later: SeriesData, remainder: number): SeriesData {
  const every = (values: SeriesData['values']): SeriesData['values'] =>
    values.filter((_, place) => place % 2 === remainder)
  const units = first.units?.map((unit, index) => every([...unit, ...(later.units?.[index] ?? [])]))
  return {
    ...first,
    state: first.state === 'failed' || later.state === 'failed' ? 'failed' : first.state,
    reasons: [...new Set([...first.reasons, ...later.reasons])],
    stepMs: 2 * first.stepMs,
    values: every([...first.values, ...later.values]),
    // Units of the second stretch may be others.
    ...(units !== undefined && first.units?.length === later.units?.length && { units }),
  }
}
