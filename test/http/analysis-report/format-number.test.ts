import { expect, test } from 'vitest'

import { formatChange, formatNumber, formatTick } from '../../../src/http/analysis-report/format-number.js'

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
  [0, '0'],
  [1234, '1,234'],
  [0.012345, '0.01235'],
  [0.001, '0.001'],
  [0.000999, '9.99e-4'],
  [1.2e-9, '1.2e-9'],
  [-1e6, '-1e6'],
])('%d is shown as %s', (value, shown) => {
  expect(formatNumber(value)).toBe(shown)
})

test.each([
  [-0.0001, '0.0 %'],
  [0.0004, '0.0 %'],
  [-0.02, '-2.0 %'],
  [0.001, '+0.1 %'],
  [0.005, '+0.5 %'],
  [0.01, '+1.0 %'],
  [0.9999, '+100.0 %'],
  [1, '+100 %'],
  [1.5, '+150 %'],
])('a change of %d is shown as %s', (share, shown) => {
  expect(formatChange(share)).toBe(shown)
})
