import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'

/** This many digits are exact in a double, and no store issues longer numbers. */
const NUMBER = /^\d{1,15}$/

/** Parses a positive integer of a path; undefined for anything else. */
export function readPathNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return undefined
  const number = Number(text)
  return number === 0 ? undefined : number
}

/**
 * Parses a positive integer of a path. Raises `not_found` for anything else; `what` is a phrase
 * such as "approval gate".
 */
export function requirePathNumber(text: string | undefined, what: string): number {
  const number = readPathNumber(text)
  if (number !== undefined) return number
  throw new AppError('not_found', `${what} "${text ?? ''}" not found: the id must be a positive integer`)
}

/** A path parameter: its description, schema and parser. */
export interface PathParameter<T> {
  readonly description: string
  readonly schema: z.ZodType
  /** Parses the unescaped segment. May raise `not_found`. */
  readonly read: (text: string) => T
}

/**
 * A numeric id in the store; `what` is a phrase such as "approval gate". Raises `not_found` for
 * anything but a positive integer.
 */
export function numberOf(what: string): PathParameter<number> {
  return {
    description: `Number of the ${what}.`,
    schema: z.int().min(1),
    read: (text) => requirePathNumber(text, what),
  }
}

/** A name or id, taken verbatim. */
export function textOf(description: string): PathParameter<string> {
  return { description, schema: z.string(), read: (text) => text }
}
