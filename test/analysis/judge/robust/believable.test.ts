import { describe, expect, test } from 'vitest'

import { judgeOne } from '../../../support/judge-metrics.js'

const level = (value: number) => Array.from({ length: 60 }, (_, n) => value * (1 + 0.05 * Math.sin(n * 2.4)))
const counter = (from: number, step: number) => Array.from({ length: 60 }, (_, n) => from + n * step)

describe('what nobody would sign is for people to look at', () => {
  test.each([
    ['seconds beside milliseconds', level(120), level(0.12), 'a thousandth of'],
    ['milliseconds beside seconds', level(0.12), level(120), 'a thousand times'],
    ['counters that count since different starts', counter(1e6, 1), counter(0, 100), 'ask for the rate'],
  ])('%s', (_, control, experiment, says) => {
    const direction = experiment[30]! < control[30]! ? 'increase' : 'decrease'
    const result = judgeOne({ control, experiment, canary: { direction } })
    expect(result.classification).toBe('Inconclusive')
    expect(result.classificationReason).toContain(says)
  })

  test.each([
    ['a level of half', level(100), level(50)],
    ['counters that count alike', counter(1e6, 50), counter(1e6 + 20, 50)],
    ['a hundredth of the traffic', level(100), level(1)],
  ])('but not %s', (_, control, experiment) => {
    expect(judgeOne({ control, experiment, canary: { direction: 'increase' } }).classification).toBe('Pass')
  })
})

test('what is no harm is said to have changed', () => {
  const result = judgeOne({ control: level(100), experiment: level(50), canary: { direction: 'increase' } })
  expect(result.classificationReason).toMatch(/^lower, where only a rise is harm: -50 %/)
})

test('a level that is another one is named as such, and not by how the values spread', () => {
  const result = judgeOne({ control: level(120), experiment: level(0.12) })
  expect(result.classification).toBe('Low')
  expect(result.classificationReason).toContain('-100 %')
  expect(result.classificationReason).not.toContain('times as wide')
})

test('single points far beyond the baseline are worth a look, and no more', () => {
  const spiked = level(100).map((value, n) => (n === 20 || n === 33 ? 2000 : value))
  const result = judgeOne({ control: level(100), experiment: spiked })
  expect(result.classification).toBe('Pass')
  expect(result.notes?.join()).toMatch(/2 points of the canary are up to \d+ % above the baseline/)
})
