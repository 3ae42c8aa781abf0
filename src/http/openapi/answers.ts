import type { AnswerDescription, RouteDescription } from '../pipeline/route.js'
import { jsonSchema } from './parameters.js'

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

function mayAnswer401({ roles = 'anyone', refused, deniesWith401 }: RouteDescription): boolean {
  return roles !== 'anyone' && refused === undefined && deniesWith401 !== true
}

function ownResponse(status: string, answer: AnswerDescription): object {
  const { description, schema, types = [JSON_TYPE], headers = {} } = answer
  if (schema === undefined && answer.types === undefined && Number(status) >= 400)
    return errorResponse(description, headers)
  const content = schema === undefined ? {} : { schema: jsonSchema(schema) }
  const [first = JSON_TYPE, ...others] = types
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
