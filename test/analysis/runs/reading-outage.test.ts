import { expect, it } from 'vitest'

import { ReadingOutage } from '../../../src/analysis/runs/reading-outage.js'

it('readers are told that a run continues for an hour in which it cannot be read, and not for ever', () => {
  const outage = new ReadingOutage()
  expect([outage.isTooLong(0), outage.isTooLong(3_599_999), outage.isTooLong(3_600_000)]).toEqual([
    false,
    false,
    true,
  ])
  outage.over()
  expect(outage.isTooLong(3_600_001)).toBe(false)
})
