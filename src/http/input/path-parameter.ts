import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'

/** This many digits are exact in a number, and more than any store gives out. */
const NUMBER = /^\d{1,15}$/

/** The number by which a path names something: digits, and from 1 on, as the stores give them out. Undefined for anything else. */
export function readPathNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return undefined
  const number = Number(text)
  return number === 0 ? undefined : number
}

/** The same where there must be one. Raises `not_found`, since nothing has such a number; `what` is a phrase like "approval gate". */
export function requirePathNumber(text: string | undefined, what: string): number {
  const number = readPathNumber(text)
  if (number !== undefined) return number
  throw new AppError(
    'not_found',
    `there is no ${what} "${text ?? ''}": its number is a whole number from 1 on`,
  )
}

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
