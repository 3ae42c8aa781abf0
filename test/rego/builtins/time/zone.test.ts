import { describe, expect, it } from 'vitest'
import { findZone, localZone } from '../../../../src/rego/builtins/time/zone.js'

describe('a time zone', () => {
  it('in another case, or known to ICU only, is unknown as in Go', () => {
    expect(() => findZone('europe/berlin')).toThrow('unknown time zone europe/berlin')
    expect(() => findZone('+05:00')).toThrow('unknown time zone +05:00')
  })

  it('named Local is the zone of the process', () => {
    const now = 1_720_000_000
    const minutes = new Date(now * 1000).getTimezoneOffset()
    expect(findZone('Local').offsetAt(now)).toBe(minutes === 0 ? 0 : -minutes * 60)
    expect(localZone().abbreviationAt(now)).not.toBe('')
  })
})
