import { describe, expect, test } from 'vitest'

import { readTime } from '../../../src/analysis/sources/files/read-time.js'
import { readNumber } from '../../../src/analysis/sources/answers/read-number.js'

describe('a number as sources write it', () => {
  test.each([
    ['1', 1],
    [' -2.50 ', -2.5],
    ['.5', 0.5],
    ['1e+3', 1000],
    [7, 7],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['Infinity', Infinity],
    ['NaN', NaN],
    ['', NaN],
    ['null', NaN],
    [null, NaN],
  ])('is read from %j as %d', (raw, value) => {
    expect(readNumber(raw)).toBe(value)
  })

  test.each(['many', '1,5', '0x10', '1 2', true, {}, undefined])('is not read from %j', (raw) => {
    expect(readNumber(raw)).toBeUndefined()
  })
})

describe('a time as files write it', () => {
  const ms = Date.UTC(2026, 10, 21, 6, 0, 0)
  test.each([
    ['seconds', ms / 1000],
    ['seconds with a fraction', String(ms / 1000) + '.000'],
    ['milliseconds', ms],
    ['microseconds', ms * 1000],
    ['nanoseconds', `${ms}000000`],
    ['ISO 8601', '2026-11-21T06:00:00Z'],
    ['another zone', '2026-11-21T07:00:00+01:00'],
    ['no zone, which is UTC', '2026-11-21 06:00:00,000'],
  ])('is read from %s', (_, raw) => {
    expect(readTime(raw)).toBe(ms)
  })

  test.each(['soon', '', '06:00', null, undefined, {}])('is not read from %j', (raw) => {
    expect(readTime(raw)).toBeNaN()
  })
})
