import { AppError } from '../../errors/app-error.js'
import { Moment } from './parse-query.js'

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
