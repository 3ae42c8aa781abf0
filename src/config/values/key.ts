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
