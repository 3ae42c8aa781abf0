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
