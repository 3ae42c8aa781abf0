import { expect, test } from 'vitest'

import { parseHttpDate } from '../../../src/lib/text/http-date.js'

const INSTANT = Date.UTC(1994, 10, 6, 8, 49, 37)

test.each([
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Sunday, 06-Nov-94 08:49:37 GMT',
  'Sun Nov  6 08:49:37 1994',
  // Go, and so OPA, does not compare the day of the week.
  'Mon, 06 Nov 1994 08:49:37 GMT',
])('a date of HTTP is read in each of its three forms: %s', (text) => {
  expect(parseHttpDate(text)).toBe(INSTANT)
})

test('years of two digits are those nearest, as Go reads them', () => {
  expect(parseHttpDate('Saturday, 01-Jan-69 00:00:00 GMT')).toBe(Date.UTC(1969, 0, 1))
  expect(parseHttpDate('Saturday, 01-Jan-68 00:00:00 GMT')).toBe(Date.UTC(2068, 0, 1))
})

test('years before 100 are not those of the last century', () => {
  const date = new Date(parseHttpDate('Sun, 06 Nov 0094 08:49:37 GMT'))
  expect(date.getUTCFullYear()).toBe(94)
})

test.each([
  '',
  '0',
  'Sun, 31 Feb 1994 08:49:37 GMT',
  'Sun, 06 Nox 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Nov 1994 08:60:00 GMT',
  'Sun, 06 Nov 1994 08:49:60 GMT',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 CET',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  ' Sun, 06 Nov 1994 08:49:37 GMT',
  '1994-11-06T08:49:37Z',
])('anything else is no date of HTTP: %j', (text) => {
  expect(parseHttpDate(text)).toBeNaN()
})
