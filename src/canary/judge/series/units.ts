import type { MetricSeries, Side } from './types.js'

/** A mean of no values is a gap. */
function meanOf(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length
}

/**
 * One series of several units (the pods of a side): at each step the mean of `count` units. More
 * units take turns, each scaled to the level of all, so that neither their number nor their
 * differences make one side move more than the other.
 */
export function joinUnits(units: readonly Float64Array[], atOnce: number): Float64Array {
  const steps = Math.max(0, ...units.map(({ length }) => length))
  const means = units.map((unit) => meanOf([...unit]))
  const level = meanOf(means)
  const scales = means.map((mean) => (atOnce < units.length && mean > 0 && level > 0 ? level / mean : 1))
  return Float64Array.from({ length: steps }, (_, step) => {
    const taken = Array.from({ length: atOnce }, (__, turn) => (step * atOnce + turn) % units.length)
    return meanOf(taken.map((unit) => (units[unit]?.[step] ?? Number.NaN) * (scales[unit] ?? 1)))
  })
}

/** The mean of each unit that has any value. */
export function unitLevels(units: readonly Float64Array[]): readonly number[] {
  return units.map((unit) => meanOf([...unit])).filter((level) => !Number.isNaN(level))
}

/**
 * Both sides with values made of equally many units at a time. A side without units is unchanged.
 */
export function comparableUnits({
  control,
  experiment,
}: Pick<MetricSeries, 'control' | 'experiment'>): Pick<MetricSeries, 'control' | 'experiment'> {
  const counts = [control, experiment].map(({ units }) => units?.length ?? 1)
  const atOnce = Math.max(1, Math.min(...counts))
  const joined = (side: Side): Side =>
    side.units === undefined || side.units.length === 0
      ? side
      : { ...side, values: joinUnits(side.units, atOnce) }
  return { control: joined(control), experiment: joined(experiment) }
}
