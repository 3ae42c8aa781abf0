import { describe, expect, it } from 'vitest'

import { joinTimes } from '../../../../src/analysis/runs/intervals/interval-data.js'
import type { SeriesData } from '../../../../src/analysis/runs/intervals/interval-data.js'

function series(values: SeriesData['values'], more: Partial<SeriesData> = {}): SeriesData {
  return {
    ...{ state: 'complete', reasons: [], warnings: [], query: 'q', startMs: 0, stepMs: 1000, values },
    ...more,
  }
}

describe('joinTimes', () => {
  it('lets the times take turns, and keeps each of them', () => {
    const joined = joinTimes([series([1, 2, 3, 4]), series([10, 20, 30, 40], { startMs: -9000 })])
    expect(joined).toMatchObject({
      ...{ startMs: 0, values: [1, 20, 3, 40], areTimes: true },
      units: [
        [1, 2, 3, 4],
        [10, 20, 30, 40],
      ],
    })
  })

  it('leaves out a time without values, with a warning', () => {
    const joined = joinTimes([series([1, 2]), series([null, null], { state: 'empty' })])
    expect(joined).toMatchObject({
      ...{ state: 'complete', values: [1, 2], warnings: ['1 of 2 times of the baseline have no values'] },
    })
    expect(joined.areTimes).toBeUndefined()
  })

  it('is incomplete if a time could not be fetched', () => {
    const failed = series([], { state: 'failed', reasons: ['the source answers 503'] })
    expect(joinTimes([series([1, 2]), failed])).toMatchObject({
      ...{ state: 'incomplete', reasons: ['the source answers 503'] },
    })
    expect(joinTimes([failed, failed]).state).toBe('failed')
  })
})
