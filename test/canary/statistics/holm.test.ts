import { expect, test } from 'vitest'

import { holm } from '../../../src/canary/statistics/benjamini-hochberg.js'

test.each([
  { p: [], adjusted: [] },
  { p: [0.03], adjusted: [0.03] },
  { p: [0.01, 0.04, 0.03], adjusted: [0.03, 0.06, 0.06] },
  { p: [0.5, 0.001, 0.9], adjusted: [1, 0.003, 1] },
])('$p is adjusted to $adjusted', ({ p, adjusted }) => {
  const found = holm(p)
  expect(found).toHaveLength(adjusted.length)
  found.forEach((value, index) => expect(value).toBeCloseTo(adjusted[index]!, 12))
})
