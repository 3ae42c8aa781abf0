import { describe, expect, it } from 'vitest'
import { parseTime } from '../../../../src/rego/builtins/time/parse-time.js'
import { findZone, UTC } from '../../../../src/rego/builtins/time/zone.js'

const layout = '2006-01-02 15:04 MST'

describe('a zone abbreviation in a time', () => {
  it.each([
    ['2024-07-01 12:00 CEST', 'Europe/Berlin', '2024-07-01T10:00:00Z'],
    ['2024-01-01 12:00 CET', 'Europe/Berlin', '2024-01-01T11:00:00Z'],
    ['2024-01-01 12:00 CEST', 'Europe/Berlin', '2024-01-01T10:00:00Z'],
    ['2024-07-01 12:00 -03', 'America/Sao_Paulo', '2024-07-01T15:00:00Z'],
    ['2024-07-01 12:00 PDT', 'Europe/Berlin', '2024-07-01T12:00:00Z'],
    ['2024-07-01 12:00 UTC', 'Europe/Berlin', '2024-07-01T12:00:00Z'],
  ])('%s where %s is local is %s', (value, local, instant) => {
    expect(parseTime(layout, value, findZone(local))).toBe(BigInt(Date.parse(instant)) * 1_000_000n)
  })

  it('has no effect where UTC is local', () => {
    expect(parseTime(layout, '2024-07-01 12:00 CEST', UTC)).toBe(1_719_835_200_000_000_000n)
  })
})
