import { z } from 'zod'

export interface KeyDescription {
  readonly description: string
  /** The allowed values, as the end of the sentence "must be …". */
  readonly allowed: string
  /** Whether the value, or one below it, may be a secret by mistake and is never shown. */
  readonly isHidden?: boolean
  readonly isSecretReference?: boolean
}

export const keyDescriptions = z.registry<KeyDescription>()

/** Registers the description and the allowed values of a key. Returns its schema. */
export function key<T extends z.ZodType>(
  schema: T,
  description: string,
  allowed: string,
  more: Pick<KeyDescription, 'isHidden' | 'isSecretReference'> = {},
): T {
  keyDescriptions.add(schema, { description, allowed, ...more })
  return schema
}

export function wholeNumber(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max)
}

/** Describes a whole number within limits. */
export function wholeNumberText(min: number, max: number): string {
  return `a whole number from ${min} to ${max}`
}

/** Limits of a numeric key, and its default. */
export interface NumberRange {
  readonly min: number
  readonly max: number
  readonly default: number
}

/** A key for a whole number. */
export function wholeNumberKey({ min, max, default: byDefault }: NumberRange, description: string) {
  return key(wholeNumber(min, max).default(byDefault), description, wholeNumberText(min, max))
}

/** A key that is true or false. */
export function booleanKey(byDefault: boolean, description: string) {
  return key(z.boolean().default(byDefault), description, 'true or false')
}
