import { z } from 'zod'

import type { AnswerDescription } from './route.js'

/** A time as answers hold it: ISO 8601 in UTC. */
export const Time = z.string().meta({ format: 'date-time' })

/** Where a list goes on: to be sent as `cursor`. */
export const Cursor = z.string().describe('Where the list goes on; absent on its last page.')

/** How many entries a page may have: from 1 to `max`, `initial` where nothing is said. */
export function pageSize(max: number, initial: number): z.ZodDefault<z.ZodCoercedNumber> {
  return z.coerce.number().int().min(1).max(max).default(initial).describe('How many entries a page has.')
}

/** Where the page begins that is asked for, in a list by numbers. */
export const AfterNumber = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .describe('What the page before named as where the list goes on.')

/** An answer of JSON. */
export function json(description: string, schema: z.ZodType): AnswerDescription {
  return { description, schema }
}
