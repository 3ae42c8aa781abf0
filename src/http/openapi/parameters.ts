import { z } from 'zod'

import type { RouteDescription, AnswerDescription } from '../pipeline/route.js'
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

const JSON_TYPE = 'application/json'

/** The error schema of all routes. */
export const ERROR_SCHEMA = {
  type: 'object',
  description: 'An error. Programs use `code`, people read `message`.',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          location: {
            type: 'object',
            properties: { file: { type: 'string' }, row: { type: 'integer' }, col: { type: 'integer' } },
          },
        },
      },
    },
  },
} as const

type Headers = Readonly<Record<string, string>>

/** Error responses that many routes share, by component name. */
export const ERROR_RESPONSES = {
  Invalid: errorResponse('The request is invalid; all problems are listed.'),
  Unauthenticated: errorResponse('The bearer token is missing or unknown.', {
    'WWW-Authenticate': 'How to authenticate.',
  }),
  Forbidden: errorResponse(
    'The caller lacks permission, or the request was meant for another host. On routes where 401 means denied, also a missing or unknown token.',
  ),
  NotFound: errorResponse('Not found.'),
  TooLarge: errorResponse('The body is too large.'),
  UnsupportedMediaType: errorResponse('The body must be JSON with a JSON content type.'),
  Failed: errorResponse('The request failed. Nothing was decided or done: never an allow.'),
  Unavailable: errorResponse('Temporarily unavailable.', {
    'Retry-After': 'Seconds until a retry.',
  }),
}

/** Returns the responses of a route by status. */
export function responsesOf(row: RouteDescription): object {
  const own = Object.entries(row.answers).map(([status, answer]) => [status, ownResponse(status, answer)])
  const shared = sharedResponses(row).map(([status, name]) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ])
  return Object.fromEntries([...shared, ...own]) as object
}

/** Returns the responses of the pipeline. Those of the route itself override them. */
function sharedResponses(
  row: RouteDescription,
): readonly (readonly [string, keyof typeof ERROR_RESPONSES])[] {
  const { params, query, body, path } = row
  const readsInput = query !== undefined || body !== undefined || path.endsWith('/*')
  return [
    ...(readsInput ? [['400', 'Invalid'] as const] : []),
    ...(mayAnswer401(row) ? [['401', 'Unauthenticated'] as const] : []),
    ['403', 'Forbidden'],
    ...(params === undefined ? [] : [['404', 'NotFound'] as const]),
    ...(body === undefined ? [] : [['413', 'TooLarge'] as const]),
    ...(body === undefined || body.types !== undefined ? [] : [['415', 'UnsupportedMediaType'] as const]),
    ['500', 'Failed'],
    ['503', 'Unavailable'],
  ]
}

function mayAnswer401({ roles = 'anyone', refused, reserves401ForDenials }: RouteDescription): boolean {
  return roles !== 'anyone' && refused === undefined && reserves401ForDenials !== true
}

function ownResponse(status: string, answer: AnswerDescription): object {
  const { description, schema, types = [JSON_TYPE], headers = {} } = answer
  if (schema === undefined && answer.types === undefined && Number(status) >= 400)
    return errorResponse(description, headers)
  const content = schema === undefined ? {} : { schema: jsonSchema(schema) }
  const [first, ...others] = types
  if (first === undefined) return { description, ...headersOf(headers) }
  return {
    description,
    ...headersOf(headers),
    content: Object.fromEntries([[first, content], ...others.map((type) => [type, {}])]) as object,
  }
}

function errorResponse(description: string, headers: Headers = {}): object {
  return {
    description,
    ...headersOf(headers),
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
  }
}

function headersOf(headers: Headers): object {
  const shown = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return shown.length === 0 ? {} : { headers: Object.fromEntries(shown) as object }
}
