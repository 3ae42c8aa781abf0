import { describe, expect, test } from 'vitest'

import { backOffMs, retryAfterMs } from '../../../src/lib/outbound/back-off.js'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

describe('the back-off', () => {
  test.each([
    { attempt: 1, most: 100 },
    { attempt: 2, most: 200 },
    { attempt: 4, most: 800 },
    { attempt: 5, most: 1000 },
    { attempt: 5000, most: 1000 },
  ])('after attempt $attempt is any part of $most ms', ({ attempt, most }) => {
    const wait = (random: number): number =>
      backOffMs(attempt, { baseMs: 100, maxMs: 1000, random: () => random })
    expect(wait(0)).toBe(0)
    expect(wait(0.5)).toBe(most / 2)
    expect(wait(0.999)).toBe(Math.floor(most * 0.999))
  })
})

describe('Retry-After', () => {
  test.each([
    { header: '0', ms: 0 },
    { header: '120', ms: 120_000 },
    { header: ' 5 ', ms: 5000 },
    { header: 'Fri, 02 Jan 2026 03:04:35 GMT', ms: 30_000 },
    { header: 'Friday, 02-Jan-26 03:04:35 GMT', ms: 30_000 },
    { header: 'Fri Jan  2 03:04:35 2026', ms: 30_000 },
    { header: 'Thu, 01 Jan 2026 00:00:00 GMT', ms: 0 },
    { header: '99999999999', ms: 86_400_000 },
    { header: '9'.repeat(400), ms: 86_400_000 },
  ])('of $header is $ms ms', ({ header, ms }) => {
    expect(retryAfterMs(header, NOW)).toBe(ms)
  })

  test.each([undefined, '', 'soon', '-1', '1.5', '2026-01-02T03:04:35Z', '1e3'])(
    'of %j is not one',
    (header) => {
      expect(retryAfterMs(header, NOW)).toBeUndefined()
    },
  )
})
