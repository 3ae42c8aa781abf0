import { describe, expect, test } from 'vitest'

import { AROUND, makeRandom, overlapping, ROWS } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { wander } = simulatedSeries()

const random = makeRandom(9)
const windows = (): number[] => Array.from(overlapping(AROUND)(random, 60))

describe('values of windows that overlap', () => {
  test('are judged by those that do not, and the finding says of how many points each is', () => {
    const result = judgeOne({ control: windows(), experiment: windows() })
    expect(result).toMatchObject({ classification: 'Pass', finding: { overlap: 5 } })
  })

  test('show a rise', () => {
    const experiment = windows().map((value) => 1.2 * value)
    expect(judgeOne({ control: windows(), experiment }).classification).toBe('High')
  })

  test('ask for windows of one step where too few are left', () => {
    const short = { control: windows().slice(0, 35), experiment: windows().slice(0, 35) }
    const result = judgeOne(short)
    expect(result.classification).toBe('Inconclusive')
    expect(result.classificationReason).toMatch(
      /Effective samples: 7 in the baseline, 7 in the canary, since each value covers 5 points.*windows of one step/,
    )
  })

  test.each([
    ['values that wander', { control: wander(100, 0.8), experiment: wander(100, 0.8) }],
    ['a cycle', { control: points((n) => (n * 7) % 5), experiment: points((n) => 1 + ((n * 7) % 5)) }],
    ['an outage', { control: points(() => 1), experiment: points((n) => (n >= 20 && n < 32 ? 0 : 1)) }],
  ])('are not seen in %s', (_, metric) => {
    expect(judgeOne(metric).finding?.overlap).toBeUndefined()
  })

  test('are not seen in spikes that know nothing of each other', () => {
    const spikes = ROWS.find(({ name }) => name === 'x10 spikes in 40 %')
    const seeded = makeRandom(20_261_121)
    const results = Array.from({ length: 25 }, () => {
      const { control = [], experiment = [] } = spikes?.make(seeded) ?? {}
      return judgeOne({ control: [...control], experiment: [...experiment] })
    })
    expect(results.filter(({ finding }) => finding?.overlap !== undefined)).toEqual([])
    expect(new Set(results.map(({ classification }) => classification))).toEqual(new Set(['High']))
  })
})

describe('values that are asked for more often than they are made', () => {
  const held = (level: number): number[] => {
    const made = Array.from({ length: 12 }, () => level + 8 * random.normal())
    return points((index) => made[Math.floor(index / 5)] ?? 0)
  }

  test('are judged once each, so that what everybody sees is found', () => {
    expect(judgeOne({ control: held(300), experiment: held(400) })).toMatchObject({
      ...{ classification: 'High', finding: { overlap: 5 } },
    })
    const unchanged = Array.from({ length: 10 }, () =>
      judgeOne({ control: held(300), experiment: held(300) }),
    )
    expect(unchanged.filter(({ classification }) => classification === 'Pass').length).toBeGreaterThan(6)
  })

  test('are not seen where values stay for as long as it happens', () => {
    const idle = (): number[] => {
      let value = 100
      return points(() => (value = random.uniform() < 0.25 ? 100 + 10 * random.normal() : value))
    }
    const results = Array.from({ length: 40 }, () => judgeOne({ control: idle(), experiment: idle() }))
    expect(results.filter(({ finding }) => finding?.overlap !== undefined).length).toBeLessThan(5)
    expect(results.filter(({ classification }) => classification === 'High')).toEqual([])
  })

  test('are not seen in values of few sizes', () => {
    const few = (): number[] => points(() => Math.floor(1.3 * random.uniform()) + 1)
    expect(judgeOne({ control: few(), experiment: few() }).finding?.overlap).toBeUndefined()
  })
})
