import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'

const NO_MOMENT = 'must be an ISO 8601 time or milliseconds since the epoch'
/** In 1973. A number between the two is one of seconds, or a date or year without its dashes, and would mean a time in 1970; a smaller one stands for the beginning. */
const LEAST_MS = 100_000_000_000
const BEGINNING_MS = 1000

/**
 * A moment as a person or a program writes it, in milliseconds since the epoch; a time that names no zone is in UTC. A blank before
 * the offset is the plus that stood there: forms and URLs that were not escaped turn one into the other.
 */
const Moment = z.string().transform((text, context) => {
  const isNumber = /^\d+$/.test(text)
  const ms = isNumber ? Number(text) : readIsoTime(text.replace(/ (?=\d\d(?::?\d\d)?$)/, '+'), 'utc')
  if (Number.isFinite(ms) && !(isNumber && ms >= BEGINNING_MS && ms < LEAST_MS)) return ms
  context.addIssue({
    code: 'custom',
    message: isNumber ? `${NO_MOMENT}, and ${text} is too small for these` : NO_MOMENT,
  })
  return z.NEVER
})

/** A window of time as a query names it, in milliseconds since the epoch. */
interface GivenRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

const earlier = (word: string) =>
  Moment.optional().meta({ deprecated: true, description: `The earlier word for \`${word}\`.` })

/** The members of a query by which every list over time is limited; the words are those of the command line. */
export const TimeRange = {
  since: Moment.optional().describe(
    'Not before this time: ISO 8601 or milliseconds, UTC where it names no zone.',
  ),
  until: Moment.optional().describe('Before this time.'),
  from: earlier('since'),
  to: earlier('until'),
}

/** The window that a query names. Raises `invalid` where it names one end twice. */
export function rangeOf({ since, until, from, to }: GivenRange): {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
} {
  if (since !== undefined && from !== undefined) throw namedTwice('since', 'from')
  if (until !== undefined && to !== undefined) throw namedTwice('until', 'to')
  return { fromMs: since ?? from, toMs: until ?? to }
}

function namedTwice(word: string, earlierWord: string): AppError {
  return new AppError('invalid', `${earlierWord}: is the earlier word for ${word}, send one of them`, {
    code: 'invalid_parameter',
  })
}
