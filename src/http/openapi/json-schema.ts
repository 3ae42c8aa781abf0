import { z } from 'zod'

import { keyDescriptions } from '../../config/values/key.js'

/** A schema as JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * What a schema takes, as an OpenAPI document holds it: what a transformation makes of it is no matter of callers. Members that are keys of the
 * configuration, too, are described as there.
 */
export function jsonSchema(schema: z.ZodType): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      const described = zodSchema instanceof z.ZodType ? keyDescriptions.get(zodSchema) : undefined
      if (described !== undefined) part.description ??= described.description
    },
  })
  return Object.fromEntries(Object.entries(made).filter(([name]) => name !== '$schema'))
}
