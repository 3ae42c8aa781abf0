import { expect, test } from 'vitest'

import { formatGoFloat } from '../../../../src/rego/builtins/go-format/float.js'
import type { FloatVerb } from '../../../../src/rego/builtins/go-format/float.js'

/**
 * Results of strconv.FormatFloat in Go 1.24; without a precision (-1 in Go) the fewest digits that
 * identify the number.
 */
test.each<[number, FloatVerb, number | undefined, string]>([
  [1.25, 'e', undefined, '1.25e+00'],
  [1, 'e', undefined, '1e+00'],
  [123456789, 'E', undefined, '1.23456789E+08'],
  [-0.00001, 'e', undefined, '-1e-05'],
  [0, 'e', undefined, '0e+00'],
  [1.25, 'e', 1, '1.2e+00'],
  [1.35, 'e', 3, '1.350e+00'],
  [0, 'e', 2, '0.00e+00'],
  [2.5, 'f', 0, '2'],
  [3.5, 'f', 0, '4'],
  [1e21, 'f', undefined, '1000000000000000000000'],
  [1e20, 'g', undefined, '1e+20'],
  [123456, 'g', undefined, '123456'],
  [1234567, 'g', undefined, '1.234567e+06'],
  [0.0001, 'g', undefined, '0.0001'],
  [0.00001, 'g', undefined, '1e-05'],
  [100, 'g', 3, '100'],
  [1000, 'g', 3, '1e+03'],
  [-Infinity, 'f', undefined, '-Inf'],
  [Infinity, 'f', undefined, '+Inf'],
  [NaN, 'f', undefined, 'NaN'],
])('%d under %%%s with precision %s is %s', (value, verb, precision, text) => {
  expect(formatGoFloat(value, verb, precision)).toBe(text)
})
