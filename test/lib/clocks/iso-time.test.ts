import { DateTime } from 'luxon'
import { afterEach, describe, expect, it, test, vi } from 'vitest'

import { readIsoTime } from '../../../src/lib/clocks/iso-time.js'

const DATES = [
  ...['2026-01-31', '20260131', '2026-02-29', '2024-02-29', '2026-13-01', '2026-00-10', '2026-04-31'],
  ...['2026', '2026-07', '202607', '+002026-01-31', '26-01-31', '2026-1-3'],
  ...['2026-W01', '2026-W53-7', '2027-W53-1', '2026W101', '2026-W00-1', '2026-W10-8', '2025-W01-1'],
  ...['2026-001', '2026365', '2026-366', '2024-366', '2026-000', '2026-999'],
]
const TIMES = [
  ...[
    '',
    'T12',
    'T12:30',
    'T1230',
    'T12:30:45',
    'T123045',
    'T12:30:45.1',
    'T12:30:45,123456789',
    'T24:00',
    'T24:01',
  ],
  ...['t12:30', 'T25:00', 'T12:60', 'T12:30:61', 'T', 'Tnoon', 'T12:30:45.'],
]
const ZONES = ['', 'Z', 'z', '+01:00', '-0330', '+05', '-00:30', '+1', '[Europe/Berlin', ' ', 'UTC']

describe.each(['utc', 'local'] as const)('times of ISO 8601, %s where they name no zone', (zone) => {
  it.each(DATES)('with the day %s are those that luxon reads', (date) => {
    const texts = TIMES.flatMap((time) => ZONES.map((offset) => `${date}${time}${offset}`))
    const expected = texts.map((text) => [text, DateTime.fromISO(text, { zone }).toMillis()])
    expect(texts.map((text) => [text, readIsoTime(text, zone)])).toEqual(expected)
  })

  it.each(['12:30', 'T12:30', 'T1230', '12:30:45.5Z', '12:30+02:00', '24:30', 'noon', ''])(
    'without a day are those of today, as luxon reads %j',
    (text) => {
      expect(readIsoTime(text, zone)).toBe(DateTime.fromISO(text, { zone }).toMillis())
    },
  )
})

describe('a time alone that names its zone', () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['2026-11-23T20:30:00Z', '10:00+05:00', '2026-11-24T05:00:00Z'],
    ['2026-11-23T02:30:00Z', '10:00-0330', '2026-11-22T13:30:00Z'],
    ['2026-11-23T20:30:00Z', '10:00Z', '2026-11-23T10:00:00Z'],
  ])('at %s, %s is of the day that it is there', (now, text, expected) => {
    vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] })
    expect(new Date(readIsoTime(text, 'local'))).toEqual(new Date(expected))
    expect(DateTime.fromISO(text).toMillis()).toBe(Date.parse(expected))
  })
})

test.each(['2026-01-31T12:00:00+01:00[Europe/Berlin]', '2026-01-31T11:00:00Z[UTC]'])(
  'a zone that is named behind the offset changes nothing: %s',
  (text) => {
    expect(readIsoTime(text, 'utc')).toBe(Date.UTC(2026, 0, 31, 11))
  },
)

it.each(['2026-01-31T12.5', '2026-01-31T12:30-garbage', '2026-01-31T12:30+1', '-2026'])(
  'text that only looks like a time is none: %s',
  (text) => {
    expect(readIsoTime(text, 'utc')).toBeNaN()
  },
)
