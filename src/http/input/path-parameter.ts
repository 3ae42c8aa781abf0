import { z } from 'zod'

import { requirePathNumber } from './path-number.js'

/** One segment of a path that differs from request to request: what it says, and how it is read. */
export interface PathParameter<T> {
  readonly description: string
  readonly schema: z.ZodType
  /** What the unescaped text of the segment means. May raise `not_found`. */
  readonly read: (text: string) => T
}

/** The number that something has in the store; `what` is a phrase like "approval gate". Whatever is no such number raises `not_found`. */
export function numberOf(what: string): PathParameter<number> {
  return {
    description: `The number of the ${what}.`,
    schema: z.int().min(1),
    read: (text) => requirePathNumber(text, what),
  }
}

/** A name or an id, taken as it is. */
export function textOf(description: string): PathParameter<string> {
  return { description, schema: z.string(), read: (text) => text }
}
