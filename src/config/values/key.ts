import { z } from 'zod'

/** What a person is told of one key. */
export interface KeyDescription {
  readonly description: string
  /** The values that it takes, as the end of the sentence "must be …". */
  readonly allowed: string
  /** Whether what is there, or below it, may be a secret by mistake and is never shown. */
  readonly isHidden?: boolean
  /** Whether it says where a secret is to be read from. */
  readonly isSecretReference?: boolean
}

/** The descriptions of all keys, by their schema. */
export const keyDescriptions = z.registry<KeyDescription>()

/** A key of the configuration: its schema, what it means and which values it takes. */
export function key<T extends z.ZodType>(
  schema: T,
  description: string,
  allowed: string,
  more: Pick<KeyDescription, 'isHidden' | 'isSecretReference'> = {},
): T {
  keyDescriptions.add(schema, { description, allowed, ...more })
  return schema
}

/** A whole number between two bounds. */
export function wholeNumber(min: number, max: number): z.ZodNumber {
  return z.number().int().min(min).max(max)
}

/** The words for a whole number between two bounds. */
export function wholeNumberText(min: number, max: number): string {
  return `a whole number from ${min} to ${max}`
}
