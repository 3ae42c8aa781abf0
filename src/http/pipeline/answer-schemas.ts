import { z } from 'zod'

import type { AnswerDescription } from './route.js'

/** A time as answers hold it: ISO 8601 in UTC. */
export const Time = z.string().meta({ format: 'date-time' })

/** Where a list goes on: to be sent as `cursor`. */
const Cursor = z.string().describe('Where the list goes on, to be sent as `cursor`; absent on its last page.')

/** What a page of a list says beside its entries. */
export const NextPage = { nextCursor: Cursor.optional() }

/** The same of the lists by numbers that had another word for it. */
export const NextNumber = {
  ...NextPage,
  next: Cursor.optional().meta({ deprecated: true, description: 'The earlier word for `nextCursor`.' }),
}

/** Where such a list goes on behind its last entry, for its answer. */
export function nextNumber(cursor: number | string | undefined): {
  readonly nextCursor?: string
  readonly next?: string
} {
  return cursor === undefined ? {} : { nextCursor: String(cursor), next: String(cursor) }
}

/** How many entries a page may have: from 1 to `max`, `initial` where nothing is said. */
export function pageSize(max: number, initial: number): z.ZodDefault<z.ZodCoercedNumber> {
  return z.coerce.number().int().min(1).max(max).default(initial).describe('How many entries a page has.')
}

const CURSOR = 'The `nextCursor` of the page before.'

/** Where the page begins that is asked for, in a list by numbers. */
export const AfterNumber = z.coerce.number().int().min(1).optional().describe(CURSOR)

/** The same in a list by times, whose cursors are no numbers. */
export const AfterText = z.string().optional().describe(CURSOR)

/** An answer of JSON. */
export function json(description: string, schema: z.ZodType): AnswerDescription {
  return { description, schema }
}
