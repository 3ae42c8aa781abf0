import { expect, test } from 'vitest'

import { brentRoot } from '../../../../src/canary/judge/kayenta/classify-metric.js'

/**
 * Without progress by interpolation, the steps are those of a bisection: 27 for an interval of 1 to
 * eight digits.
 */
test.each([
  ['cos x - x', (x: number) => Math.cos(x) - x, 0, 1, 0.7390851332151607, 7],
  ['x^3 - 2x - 5', (x: number) => x ** 3 - 2 * x - 5, 2, 3, 2.0945514815423265, 8],
  ['exp x - 2', (x: number) => Math.exp(x) - 2, 0, 2, Math.LN2, 9],
  ['a step', (x: number) => (x < 0.3 ? -1 : 1), 0, 1, 0.3, 29],
])('the root of %s is found in a few steps', (_, f, lower, upper, root, expectedSteps) => {
  let steps = 0
  const found = brentRoot(
    (x) => {
      steps += 1
      return f(x)
    },
    lower,
    upper,
    1e-8,
  )
  expect(Math.abs((found ?? NaN) - root)).toBeLessThanOrEqual(1e-8)
  expect(steps).toBe(expectedSteps)
})

test('a bound may be the root, and there may be none', () => {
  expect(brentRoot((x) => x, 0, 1, 1e-8)).toBe(0)
  expect(brentRoot((x) => x - 1, 0, 1, 1e-8)).toBe(1)
  expect(brentRoot((x) => x * x + 1, -1, 1, 1e-8)).toBeUndefined()
})
