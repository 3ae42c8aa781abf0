import { expect, test } from 'vitest'

import { formatNumber } from '../../../src/http/analysis-report/format-number.js'
import { chance, percent, short, withPrefix } from '../../../src/lib/text/number-text.js'

test.each([
  [0, '0'],
  [0.05, '0.05'],
  [250, '250'],
  [1500, '1.5k'],
  [-20_000_000, '-20M'],
  [0.000003, '3µ'],
  [1.7e308, '1.7e308'],
])('%d is %s at an axis', (value, shown) => {
  expect(withPrefix(value)).toBe(shown)
})

test.each([
  [0, '0'],
  [1234, '1,234'],
  [0.012345, '0.01235'],
  [0.001, '0.001'],
  [0.000999, '999µ'],
  [1.2e-9, '1.2n'],
  [-1e6, '-1M'],
  [1e-20, '1e-20'],
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
  [0.9999, '+100 %'],
  [1, '+100 %'],
  [1.5, '+150 %'],
  [23.5, '+2,350 %'],
  [0.341, '+34 %'],
])('a change of %d is shown as %s', (share, shown) => {
  expect(percent(share)).toBe(shown)
})

test.each([
  [226.4, '226'],
  [2393.1, '2,390'],
  [0.0123456, '0.0123'],
  [3.21e13, '32.1T'],
  [-2.1e-9, '-2.1n'],
  [0, '0'],
])('%d is told as %s in a sentence', (value, shown) => {
  expect(short(value)).toBe(shown)
})

test.each([
  [1, 'p 1'],
  [0.04895, 'p 0.049'],
  [0.000146, 'p 0.00015'],
  [7.3e-15, 'p below 0.0001'],
])('a p-value of %d is told as %s', (p, shown) => {
  expect(chance(p)).toBe(shown)
})
