import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { parseQuery } from '../../../src/http/input/parse-query.js'
import { TimeRange, rangeOf } from '../../../src/http/input/time-range.js'

const Query = z.strictObject(TimeRange)
const read = (raw: Record<string, string>) => rangeOf(parseQuery(Query, raw))

describe('the window of time of a query', () => {
  it('is read by the words of the command line, and by the earlier ones', () => {
    const window = { fromMs: Date.UTC(2026, 0, 31, 12), toMs: 1_800_000_000_000 }
    expect(read({ since: '2026-01-31T12:00:00Z', until: '1800000000000' })).toEqual(window)
    expect(read({ from: '2026-01-31T13:00:00+01:00', to: '1800000000000' })).toEqual(window)
    expect(read({ since: '2026-01-31T12:00', to: '1800000000000' })).toEqual(window)
    expect(read({ since: '2026-01-31T13:00:00 01:00', to: '1800000000000' })).toEqual(window)
    expect(read({ since: '0' })).toEqual({ fromMs: 0, toMs: undefined })
    expect(read({})).toEqual({ fromMs: undefined, toMs: undefined })
  })

  it.each([
    [{ since: '1', from: '1' }, 'from: is the former name of since; send one of them'],
    [{ until: '1', to: '1' }, 'to: is the former name of until; send one of them'],
    [{ since: 'soon' }, 'since must be an ISO 8601 time or milliseconds since the epoch'],
    [{ since: '1800000000' }, 'milliseconds since the epoch; 1800000000 is too small for milliseconds'],
    [{ until: '20260131' }, 'milliseconds since the epoch; 20260131 is too small for milliseconds'],
    [{ until: '2026' }, 'milliseconds since the epoch; 2026 is too small for milliseconds'],
  ])('%j is refused', (raw, message) => {
    expect(() => read(raw)).toThrow(message)
  })
})
