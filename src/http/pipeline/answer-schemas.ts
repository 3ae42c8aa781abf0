import { z } from 'zod'

import type { AnswerDescription } from './route.js'

/** A time in responses: ISO 8601 in UTC. */
export const Time = z.string().meta({ format: 'date-time' })

/** Cursor of the next page. */
const Cursor = z
  .string()
  .describe('Cursor of the next page, for the parameter `cursor`; absent on the last page.')

/** Response members of a page besides its entries. */
export const NextPage = { nextCursor: Cursor.optional() }

/** Response members of a page, with the deprecated `next`. */
export const NextNumber = {
  ...NextPage,
  next: Cursor.optional().meta({ deprecated: true, description: 'Former name of `nextCursor`.' }),
}

/** Returns the members of `NextNumber` for a cursor. */
export function nextNumber(cursor: number | string | undefined): {
  readonly nextCursor?: string
  readonly next?: string
} {
  return cursor === undefined ? {} : { nextCursor: String(cursor), next: String(cursor) }
}

/** A query parameter for the page size, from 1 to `max`. */
export function pageSize(max: number, initial: number): z.ZodDefault<z.ZodCoercedNumber> {
  return z.coerce.number().int().min(1).max(max).default(initial).describe('Maximum entries of the page.')
}

const CURSOR = '`nextCursor` of the previous page.'

/** Cursor parameter of lists ordered by number. */
export const AfterNumber = z.coerce.number().int().min(1).optional().describe(CURSOR)

/** Cursor parameter of lists ordered by time. */
export const AfterText = z.string().optional().describe(CURSOR)

/** Describes a JSON response. */
export function json(description: string, schema: z.ZodType): AnswerDescription {
  return { description, schema }
}

/** A warning in a response and in the decision log. */
export const WarningAnswer = z.object({
  package: z.string(),
  message: z.string(),
  kind: z
    .enum(['rule', 'level', 'exception', 'error'])
    .describe(
      'A `warn` rule, a denial of a package at the level `warn`, a denial that an exception excuses, or the failure of a package that only warns.',
    ),
  level: z.literal('warn').optional(),
  exception: z.object({ id: z.int(), owner: z.string(), until: z.string() }).optional(),
})
