import { centred, dependence } from '../samples/autocorrelation.js'
import type { Dependence } from '../samples/autocorrelation.js'
import type { CleanSide } from '../samples/clean-side.js'
import type { CleanSides } from '../samples/metric-tests.js'

/** The events of a side and their exposure. */
export interface Total {
  readonly events: number
  readonly exposure: number
}

/** Points with events on both sides, and how they depend on each other in time. */
export interface CountedPoints {
  readonly control: Total
  readonly experiment: Total
  readonly dependence: Dependence
}

const BISECTION_STEPS = 60

/** All events of a side. */
export function totalOf({ values, exposure }: CleanSide): Total {
  return { events: sum(values), exposure: sum(exposure) }
}

/**
 * The points with events, counted as events. A point with more exposure has one more often, but no
 * more than one: at a rate u of clusters, 1 - exp(-u E) of the points with exposure E. The exposure
 * of each side is its part of all such points at the rate of both sides together, in the unit of
 * the given exposure.
 */
export function countPoints({ control, experiment }: CleanSides): CountedPoints {
  const marks = [control, experiment].map(({ values, places }) => ({
    values: values.map((value) => (value > 0 ? 1 : 0)),
    places,
  }))
  const [inControl = 0, inExperiment = 0] = marks.map(({ values }) => sum(values))
  const exposures = [control.exposure, experiment.exposure]
  const found = inControl + inExperiment
  const rate = rateOfClusters(exposures, found)
  const [ofControl = 0, ofExperiment = 0] = exposures.map((exposure) => expectedPoints(exposure, rate))
  const unit = (sum(control.exposure) + sum(experiment.exposure)) / (ofControl + ofExperiment)
  return {
    control: { events: inControl, exposure: ofControl * unit },
    experiment: { events: inExperiment, exposure: ofExperiment * unit },
    dependence: dependence(marks.map(({ values, places }) => centred(values, places))),
  }
}

/**
 * The expected points with events if the side with more traffic had only the traffic of the other
 * side: each event is kept with that chance. An outage, which depends on time and not on traffic,
 * is then equally visible on both sides.
 */
export function thinnedPoints({ control, experiment }: CleanSides): CountedPoints {
  const least = Math.min(...[control, experiment].map(({ exposure }) => sum(exposure) / exposure.length))
  const marks = [control, experiment].map(({ values, places, exposure }) => ({
    values: values.map((value, index) => 1 - (1 - Math.min(1, least / (exposure[index] ?? 1))) ** value),
    places,
  }))
  const [before, now] = marks.map(({ values }) => ({
    events: Math.round(sum(values)),
    exposure: values.length,
  }))
  const none = { events: 0, exposure: 1 }
  return {
    control: before ?? none,
    experiment: now ?? none,
    dependence: dependence(marks.map(({ values, places }) => centred(values, places))),
  }
}

/**
 * The rate at which this number of points is expected to have events, to more digits than matter.
 */
function rateOfClusters(exposures: readonly Float64Array[], points: number): number {
  const least = Math.min(...exposures.map((exposure) => exposure.reduce((a, b) => Math.min(a, b), Infinity)))
  let [low, high] = [0, BISECTION_STEPS / least]
  for (let step = 0; step < BISECTION_STEPS; step += 1) {
    const middle = (low + high) / 2
    const expected = exposures.reduce((total, exposure) => total + expectedPoints(exposure, middle), 0)
    if (expected < points) low = middle
    else high = middle
  }
  return (low + high) / 2
}

function expectedPoints(exposure: Float64Array, rate: number): number {
  return exposure.reduce((total, amount) => total - Math.expm1(-rate * amount), 0)
}

function sum(all: Float64Array): number {
  return all.reduce((total, value) => total + value, 0)
}
