import { z } from 'zod'

import type { RouteDescription } from '../pipeline/route.js'
import { keyDescriptions } from '../../config/values/key.js'

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Returns the input schema, before transformations. Members that are configuration keys get the
 * description of the key.
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

/** A Parameter Object (OpenAPI 3.1, 4.8.12). */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required?: true
  readonly description?: unknown
  readonly deprecated?: true
  readonly schema: JsonSchema
}

const BELOW = '/*'
const REST: Parameter = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'The rest of the path, with literal slashes.',
  schema: { type: 'string' },
}

/** Returns a path in OpenAPI's form: `/audit/{seq}`. */
export function pathTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/\/\*$/, '/{path}')
}

/** Returns the path and query parameters of a route. */
export function parametersOf({ path, params = {}, query }: RouteDescription): readonly Parameter[] {
  const inPath = Object.entries(params).map(([name, { description, schema }]): Parameter => ({
    ...{ name, in: 'path', required: true, description },
    schema: jsonSchema(schema),
  }))
  const rest = path.endsWith(BELOW) ? [REST] : []
  return [...inPath, ...rest, ...(query === undefined ? [] : queryParameters(jsonSchema(query)))]
}

function queryParameters({ properties = {}, required = [] }: JsonSchema): readonly Parameter[] {
  const needed = new Set(required as readonly string[])
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(
    ([name, { description, deprecated, ...schema }]): Parameter => ({
      ...{ name, in: 'query' },
      ...(needed.has(name) && { required: true }),
      ...(description !== undefined && { description }),
      ...(deprecated === true && { deprecated }),
      schema,
    }),
  )
}
