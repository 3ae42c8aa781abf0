import { expect, test } from 'vitest'

import { formatChange, formatTick } from '../../../src/http/analysis-report/format-number.js'

test.each([
  [0, '0'],
  [0.05, '0.05'],
  [250, '250'],
  [1500, '1.5k'],
  [-20_000_000, '-20M'],
  [0.000003, '3µ'],
  [1.7e308, '1.7e308'],
])('%d is %s at an axis', (value, shown) => {
  expect(formatTick(value)).toBe(shown)
})

test.each([
  [-0.0001, '0.0 %'],
  [0.0004, '0.0 %'],
  [-0.02, '-2.0 %'],
  [1.5, '+150 %'],
])('a change of %d is shown as %s', (share, shown) => {
  expect(formatChange(share)).toBe(shown)
})
