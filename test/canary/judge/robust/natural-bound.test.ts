import { describe, expect, test } from 'vitest'

import { makeRandom, successRate } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points } from '../../../support/judge-metrics.js'

const random = makeRandom(5)
const rate = (share: number): number[] => Array.from(successRate(share)(random, 60))
const smooth = (mean: number, deviation: number): number[] =>
  points(() => Math.min(100, mean + deviation * random.normal()))

describe('values that end at a bound', () => {
  const worse = { control: rate(0.9995), experiment: rate(0.995) }
  const slow = { control: smooth(99.95, 0.005), experiment: smooth(99.5, 0.01) }

  test('are judged by how far they are from it: 99.5 % are ten times the failures of 99.95 %', () => {
    const result = judgeOne(worse)
    expect(result.classification).toBe('Low')
    expect(result.finding).toMatchObject({ distanceFrom: 100 })
    expect(result.classificationReason).toMatch(
      /^99\.\d+ on average, 99\.9\d+ in the baseline\. Distance from 100: /,
    )
  })

  test.each([
    ['a success rate by its name', { name: 'Success rate' }, 'Low'],
    ['availability by its name', { name: 'http_availability' }, 'Low'],
    ['the rate of errors, which is at its worst there', { name: 'error ratio' }, 'Pass'],
    ['load, which has no outcomes', { name: 'cpu usage percent' }, 'Pass'],
    ['what is declared', { name: 'm', canary: { upperBound: 100 } }, 'Low'],
    ['nothing that is declared to be without', { name: 'success', canary: { upperBound: false } }, 'Pass'],
    [
      'what has a margin of its own, which stays one of the values',
      { name: 'success', canary: { margin: 0.01 } },
      'Pass',
    ],
  ])('are %s', (_, how, is) => {
    expect(judgeOne({ ...slow, ...how }).classification).toBe(is)
  })

  test('that come nearer to it are no harm', () => {
    const better = { control: worse.experiment, experiment: worse.control }
    const smooth = { name: 'success', control: slow.experiment, experiment: slow.control }
    for (const direction of ['either', 'decrease'])
      for (const metric of [better, smooth])
        expect(judgeOne({ ...metric, canary: { direction } }).classification).toBe('Pass')
    expect(judgeOne(smooth).classificationReason).toMatch(/^Higher, and only a fall is harm/)
    expect(judgeOne({ ...better, canary: { direction: 'decrease' } }).classification).toBe('Pass')
    expect(judgeOne({ ...worse, canary: { direction: 'decrease' } }).classification).toBe('Low')
  })

  test.each([
    ['one point at 50', 1, 50, 'Pass'],
    ['three points at 97', 3, 97, 'Inconclusive'],
  ])('are steady at 100 except for %s', (_, count, dip, is) => {
    const dipped = points((index) => ((index * 37) % 60 < count ? dip : 100))
    const { classification, notes, classificationReason } = judgeOne({
      ...{ name: 'success', control: points(() => 100), experiment: dipped },
    })
    expect(classification).toBe(is)
    expect([classificationReason, ...(notes ?? [])].join()).toMatch(
      /of the canary (is|are) far below the baseline's lowest value of 100/,
    )
  })

  test('are ratios up to 1 as well', () => {
    const [control, experiment] = [worse.control, worse.experiment].map((side) =>
      side.map((value) => value / 100),
    )
    expect(judgeOne({ control: control!, experiment: experiment! }).finding).toMatchObject({
      distanceFrom: 1,
    })
  })
})
