import { z } from 'zod'

const MAX_LENGTH = 2000

/** A text of a tool, cut to what is worth keeping with an instance. */
export const shortText = z.string().transform((text) => text.slice(0, MAX_LENGTH))

/** The text, or null where the tool has none. */
export const optionalText = shortText.nullish().transform((text) => text ?? null)

/** An object of which only its name matters. */
export const named = z.object({ name: shortText }).transform(({ name }) => name)

/** The name, or null where the tool has no such object. */
export const optionalNamed = named.nullish().transform((name) => name ?? null)
