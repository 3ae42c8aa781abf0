import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'

const NO_MOMENT = 'must be an ISO 8601 time or milliseconds since the epoch'
/**
 * A time in 1973. Smaller numbers are rejected, since they are probably seconds or a date without
 * dashes; as milliseconds they would mean 1970.
 */
const MIN_MS = 100_000_000_000
const BEGINNING_MS = 1000

/**
 * A time in epoch milliseconds or ISO 8601, in UTC if it names no zone. A blank before the offset
 * counts as a plus, which is a blank in unescaped URLs.
 */
const Moment = z.string().transform((text, context) => {
  const isNumber = /^\d+$/.test(text)
  const ms = isNumber ? Number(text) : readIsoTime(text.replace(/ (?=\d\d(?::?\d\d)?$)/, '+'), 'utc')
  if (Number.isFinite(ms) && !(isNumber && ms >= BEGINNING_MS && ms < MIN_MS)) return ms
  context.addIssue({
    code: 'custom',
    message: isNumber ? `${NO_MOMENT}; ${text} is too small for milliseconds` : NO_MOMENT,
  })
  return z.NEVER
})

/** Time range of a query, in epoch milliseconds. */
interface GivenRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

const earlier = (word: string) =>
  Moment.optional().meta({ deprecated: true, description: `Former name of \`${word}\`.` })

/** Query parameters that limit a list by time, named as on the command line. */
export const TimeRange = {
  since: Moment.optional().describe(
    'Start of the range, inclusive: ISO 8601 or milliseconds, UTC by default.',
  ),
  until: Moment.optional().describe('End of the range, exclusive.'),
  from: earlier('since'),
  to: earlier('until'),
}

/** Returns the time range of a query. Raises `invalid` if it names one end twice. */
export function rangeOf({ since, until, from, to }: GivenRange): {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
} {
  if (since !== undefined && from !== undefined) throw namedTwice('since', 'from')
  if (until !== undefined && to !== undefined) throw namedTwice('until', 'to')
  return { fromMs: since ?? from, toMs: until ?? to }
}

function namedTwice(word: string, earlierWord: string): AppError {
  return new AppError('invalid', `${earlierWord}: is the former name of ${word}; send one of them`, {
    code: 'invalid_parameter',
  })
}
