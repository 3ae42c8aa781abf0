import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import type { Random } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points } from '../../../support/judge-metrics.js'
import type { Metric } from '../../../support/judge-metrics.js'
import { PROJECT_ROOT } from '../../../support/project-root.js'

const RESULTS = join(PROJECT_ROOT, 'test/cases/analysis/judge-results.txt')
const DIGITS = 8

type Make = (random: Random) => Metric

const gauge =
  (mean: number, deviation = 10, count = 60) =>
  ({ normal }: Random): number[] =>
    points(() => mean + deviation * normal(), count)
const counts =
  (mean: number, count = 60) =>
  ({ poisson }: Random): number[] =>
    points(() => poisson(mean), count)
const sides =
  (
    control: (random: Random) => number[],
    experiment: (random: Random) => number[],
    more: object = {},
  ): Make =>
  (random) => ({ control: control(random), experiment: experiment(random), ...more })
const wave = (level: number) => (random: Random) =>
  points((index) => level * (100 + 30 * Math.sin((index / 60) * 2 * Math.PI)) + 3 * random.normal())
const wandering =
  (mean: number, share: number) =>
  ({ normal }: Random): number[] => {
    let state = normal()
    return points(() => {
      state = share * state + Math.sqrt(1 - share * share) * normal()
      return mean + 10 * state
    })
  }
const steps =
  (from: number, to: number, high: number) =>
  (random: Random): number[] =>
    gauge(100)(random).map((value, index) => (index >= from && index < to ? value + high : value))
const seldom =
  (share: number, level = 20) =>
  ({ uniform, normal }: Random): number[] =>
    points(() => (uniform() < share ? level + normal() : 0))
const clustered =
  (every: number, mean: number) =>
  ({ poisson }: Random): number[] =>
    points((index) => (index % every === 0 ? poisson(mean) : 0))
const outOf = (control: number, experiment: number) => ({
  exposure: { control: points(() => control), experiment: points(() => experiment) },
})
const percentages =
  (below: number) =>
  ({ uniform }: Random): number[] =>
    points(() => 100 - below * uniform())
const withGap = (make: (random: Random) => number[], from: number, to: number) => (random: Random) =>
  make(random).map((value, index) => (index >= from && index < to ? NaN : value))

/** New scenes come last: the place of a scene seeds its numbers. */
const SCENES: Readonly<Record<string, Make>> = {
  'two samples of one distribution': sides(gauge(100), gauge(100)),
  'a rise of a tenth': sides(gauge(100), gauge(110)),
  'a rise of half': sides(gauge(100), gauge(150)),
  'a fall of a third': sides(gauge(100), gauge(67)),
  'sides of different length': sides(gauge(100, 10, 40), gauge(104, 10, 60)),
  'sides that follow each other': sides(wave(1), wave(1.12)),
  'points that remember the one before': sides(wandering(100, 0.7), wandering(112, 0.7)),
  'spikes in a tenth of the points': sides(gauge(100), (random) =>
    gauge(100)(random).map((value, index) => (index % 10 === 4 ? 6 * value : value)),
  ),
  'drops in a tenth of the points': sides(gauge(100), (random) =>
    gauge(100)(random).map((value, index) => (index % 10 === 4 ? value / 6 : value)),
  ),
  'a spread three times as wide': sides(gauge(100), gauge(100, 30)),
  'a spread three times as narrow': sides(gauge(100, 30), gauge(100)),
  'a stretch in the middle': sides(gauge(100), steps(25, 37, 30)),
  'a stretch up to the end': sides(gauge(100), steps(48, 60, 30)),
  'a low stretch up to the end': sides(gauge(100), steps(48, 60, -30)),
  'a start that is high': sides(gauge(100), steps(0, 4, 80)),
  'sides far apart': sides(gauge(100, 1), gauge(300, 1)),
  'sides far apart downwards': sides(gauge(300, 1), gauge(100, 1)),
  'values around nothing': sides(gauge(0), gauge(4)),
  'values mostly 0': sides(seldom(0.2), seldom(0.5)),
  'values mostly 0 on one side': sides(seldom(0.2), seldom(0.8)),
  'values mostly 0 and larger': sides(seldom(0.4), seldom(0.4, 45)),
  'rare events': sides(counts(0.2), counts(0.6)),
  'events in nearly every point': sides(counts(5), counts(8), { canary: { kind: 'count' } }),
  'events out of requests': sides(counts(5), counts(9), outOf(850, 867)),
  'events on one side alone': sides(() => points(() => 0), counts(2), outOf(850, 867)),
  'events on the other side alone': sides(counts(2), () => points(() => 0), outOf(850, 867)),
  'as many events as requests': sides(counts(5), counts(5), outOf(5, 5)),
  'events in clusters': sides(clustered(10, 30), clustered(10, 60), outOf(200, 300)),
  'percentages near their bound': sides(percentages(0.5), percentages(2), { canary: { upperBound: 100 } }),
  'percentages that left their bound': sides(() => points(() => 100), percentages(2), {
    canary: { upperBound: 100 },
  }),
  'percentages with a margin of their own': sides(percentages(0.5), percentages(2), {
    canary: { upperBound: 100, margin: 0.5 },
  }),
  'percentages of which a share is allowed': sides(percentages(0.5), percentages(2), {
    canary: { upperBound: 100, effectSize: { allowedIncrease: 1.01, allowedDecrease: 0.99 } },
  }),
  'one value against another': sides(
    () => points(() => 10),
    () => points(() => 13),
  ),
  'one value on both sides': sides(
    () => points(() => 10),
    () => points(() => 10),
  ),
  'a gap in the canary': sides(gauge(100), withGap(gauge(100), 20, 35)),
  'a canary that falls silent': sides(gauge(100), withGap(gauge(100), 40, 60)),
  'a small margin': sides(gauge(100, 1), gauge(103, 1), { canary: { margin: 0.01 } }),
  'a change measured by rank': sides(gauge(100), gauge(108), {
    canary: { effectSize: { measure: 'cles', allowedIncrease: 0.6, criticalIncrease: 0.9 } },
  }),
  'one value on sides of different length': sides(
    () => points(() => 10, 40),
    () => points(() => 10),
  ),
  'a critical fall from a mean of 0': sides(
    () => points((index) => (index % 2 ? 10 : -10)),
    () => points((index) => (index % 2 ? 10 : -10) - 30),
    { canary: { critical: true, effectSize: { allowedDecrease: 0.8, criticalDecrease: 0.5 } } },
  ),
  'a critical rise': sides(gauge(100), gauge(160), {
    canary: { critical: true, effectSize: { allowedIncrease: 1.2, criticalIncrease: 1.5 } },
  }),
}

/** Rounds numbers to digits that do not depend on the version of the mathematics library. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value
}

function describeResult(name: string, metric: Metric): string {
  const result = judgeOne(metric)
  const { classification, classificationReason, score, ratio, noData, critical } = result
  const { finding, isBeyondDoubt, notes } = result
  const { tests = [], ...found } = finding ?? {}
  return [
    `${name}: ${classification} ${JSON.stringify({ score, ratio, noData, critical, isBeyondDoubt }, rounded)}`,
    `  ${classificationReason}`,
    ...(notes ?? []).map((note) => `  note: ${note}`),
    `  ${JSON.stringify(found, rounded)}`,
    ...tests.map((outcome) => `  ${JSON.stringify(outcome, rounded)}`),
  ].join('\n')
}

/** The results of each scene in each direction of harm, by name. */
function allResults(): Map<string, string> {
  const shown = Object.entries(SCENES).flatMap(([name, make], index) =>
    ['either', 'increase', 'decrease'].map((direction) => {
      const { canary = {}, ...metric } = make(makeRandom(index + 1))
      const scene = `${name} (${direction})`
      return [scene, describeResult(scene, { ...metric, canary: { direction, ...canary } })] as const
    }),
  )
  return new Map(shown)
}

const shown = allResults()
if (process.env['WRITE_RESULTS'] === 'yes') writeFileSync(RESULTS, `${[...shown.values()].join('\n\n')}\n`)
const known = readFileSync(RESULTS, 'utf8').trimEnd().split('\n\n')

// A replayed interval must give the stored report. Change the stored values only on purpose
// (WRITE_RESULTS=yes), and document the change.
test.each([...shown])('the judge gives its stored result: %s', (name, text) => {
  expect(text.split('\n')).toEqual(known.find((each) => each.startsWith(`${name}: `))?.split('\n'))
})
