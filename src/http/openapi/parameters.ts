import type { RouteDescription } from '../pipeline/route.js'
import { jsonSchema } from './json-schema.js'
import type { JsonSchema } from './json-schema.js'

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
  description: 'All of the rest of the path: its slashes stand as they are.',
  schema: { type: 'string' },
}

/** A path of a list in OpenAPI's form: `/audit/{seq}`. */
export function pathTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/\/\*$/, '/{path}')
}

/** What a route reads of its path and its query. */
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
