import { describe, expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()
const without = (from: number, to: number): (number | null)[] =>
  around(100, 2).map((value, index) => (index >= from && index < to ? null : value))

describe('values that one side lacks', () => {
  test.each([
    [
      'the canary at the start',
      around(100, 2),
      without(0, 30),
      'The canary has no value in the first 30 of 60',
    ],
    [
      'the canary at the end',
      around(100, 2),
      without(50, 60),
      'The canary has no value in the last 10 of 60',
    ],
    ['the canary in the middle', around(100, 2), without(20, 30), 'The canary has no value for 10 of 60'],
    [
      'the baseline at the start',
      without(0, 30),
      around(100, 2),
      'The baseline has no value in the first 30',
    ],
    [
      'a shorter baseline',
      around(100, 2).slice(0, 30),
      around(100, 2),
      'The baseline has no value in the last 30',
    ],
    [
      'a shorter canary',
      around(100, 2),
      around(100, 2).slice(0, 30),
      'The canary has no value in the last 30',
    ],
  ])('need a review: %s', (_, control, experiment, reason) => {
    expect(judgeOne({ control, experiment })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining(reason) as string,
    })
  })

  test('do not matter at a start of up to a fifth, as of a canary that started late', () => {
    expect(judgeOne({ control: around(100, 2), experiment: without(0, 10) }).classification).toBe('Pass')
  })

  const everyNth = (n: number): (number | null)[] =>
    around(100, 2).map((value, index) => (index % n === 0 ? value : null))

  test.each([2, 3, 5])('need a review if one side has only every point number %d', (n) => {
    const rest = Math.ceil(60 / n)
    expect(judgeOne({ control: around(100, 2), experiment: everyNth(n) })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: `The canary has a value in ${rest} of 60 points, the baseline in 60. Check why values are missing`,
      noData: { state: 'doubtful', policy: 'review' },
    })
    expect(judgeOne({ control: everyNth(n), experiment: around(100, 2) }).classificationReason).toBe(
      `The baseline has a value in ${rest} of 60 points, the canary in 60. Check why values are missing`,
    )
  })

  test('do not matter if zeros replace them, or both sides have every third', () => {
    expect(judgeOne({ control: everyNth(3), experiment: everyNth(3) }).classification).toBe('Pass')
    const filled = judgeOne({
      control: everyNth(3),
      experiment: everyNth(3),
      canary: { nanStrategy: 'replace' },
    })
    expect(filled.classification).toBe('Pass')
  })

  test('do not matter if both sides lack them', () => {
    expect(judgeOne({ control: without(0, 30), experiment: without(0, 30) }).classification).toBe('Pass')
  })
})

describe('points that were delivered several times', () => {
  /** How many of 200 pairs without a change fail. */
  const failures = (copy: (values: number[]) => number[], both: boolean): number => {
    const random = makeRandom(5)
    const side = (): number[] => points(() => Math.exp(random.normal()), 20)
    return Array.from({ length: 200 }, () => {
      const [control, experiment] = [side(), side()]
      return judgeOne({ control: both ? copy(control) : control, experiment: copy(experiment) })
    }).filter(({ classification }) => classification === 'High' || classification === 'Low').length
  }
  const again = (values: number[]): number[] => [...values, ...values, ...values]
  const each = (values: number[]): number[] => values.flatMap((value) => [value, value, value])

  test.each([
    ['in blocks', again],
    ['one after the other', each],
  ])('count once: %s', (_, copy) => {
    expect(failures(copy, true)).toBeLessThan(10)
  })

  test('count once if only the canary has them', () => {
    expect(failures(again, false)).toBeLessThan(10)
  })

  test('pass if they are identical on both sides', () => {
    const values = around(100, 10, 20)
    expect(judgeOne({ control: values, experiment: again(values) }).classification).not.toBe('High')
  })
})

describe('units of the canary that stop having values', () => {
  const units = (stopped: number, from = 30): (number | null)[][] =>
    Array.from({ length: 10 }, (_, unit) =>
      around(100, 2).map((value, index) => (unit < stopped && index >= from ? null : value)),
    )

  test('need a review, however few they are', () => {
    expect(judgeOne({ control: units(0) as never, experiment: units(1) as never })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason:
        '1 of 10 units of the canary has no value at the end of the window, the baseline has all of its units. Check whether this unit still runs',
    })
    expect(
      judgeOne({ control: units(0) as never, experiment: units(3) as never }).classificationReason,
    ).toMatch(/^3 of 10 units of the canary have no value/)
  })

  test('do not matter if units of the baseline stop too, or others replace them', () => {
    expect(judgeOne({ control: units(1) as never, experiment: units(1) as never }).classification).toBe(
      'Pass',
    )
    const replaced = units(1)
    replaced.push(around(100, 2).map((value, index) => (index < 30 ? null : value)))
    expect(judgeOne({ control: units(0) as never, experiment: replaced as never }).classification).toBe(
      'Pass',
    )
  })
})

test('one series of measurements for both sides gets a note', () => {
  const same = around(100, 2)
  expect(judgeOne({ control: same, experiment: same })).toMatchObject({
    classification: 'Pass',
    notes: ['Both sides have the same values at the same times. Check that their queries differ'],
  })
  expect(judgeOne({ control: points(() => 5), experiment: points(() => 5) }).notes).toBeUndefined()
})
