import { gunzipSync } from 'node:zlib'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'

import type { Answered } from '../http-client.js'
import type { DescribedOperation } from './operations.js'

const Response = z.looseObject({
  $ref: z.string().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}).optional() })).default({}),
})
const Components = z.looseObject({ components: z.looseObject({ responses: z.record(z.string(), Response) }) })

/** Returns the differences between a response and the document: status, type, body. */
export type AnswerProblems = (operation: DescribedOperation, answer: Answered) => readonly string[]

/** Routes whose documents are described in outline only. */
const OUTLINED = /^\/(?:analysis|autopilot|openapi\.json)\b/

/** Holds answers against an OpenAPI document. */
export function answerProblemsBy(document: object): AnswerProblems {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const { components } = Components.parse(document)
  return ({ path, operation }, { status, headers, body }) => {
    const described = operation.responses[String(status)]
    if (described === undefined) return [`status ${status} is not described: ${body.toString()}`]
    const parsed = Response.parse(described)
    const name = parsed.$ref?.replace('#/components/responses/', '')
    const { content } = name === undefined ? parsed : (components.responses[name] ?? parsed)
    const type = (headers['content-type'] ?? '').split(';')[0] ?? ''
    const shown = content[type]
    if (type === '' && body.length === 0 && Object.keys(content).length === 0) return []
    if (shown === undefined) return [`the type ${type} is not described: ${Object.keys(content).join()}`]
    if (type !== 'application/json' || shown.schema === undefined || body.length === 0) return []
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    const schema = { ...shown.schema, components }
    const validate = ajv.compile(OUTLINED.test(path) ? schema : (closed(schema) as object))
    return validate(JSON.parse(text.toString()))
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
        )
  }
}

/**
 * The schema with every object closed that names its members, so that responses must be described
 * completely.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([key, value]) => [key, closed(value)] as const)
  const copy: Record<string, unknown> = Object.fromEntries(members)
  return 'properties' in copy && copy['type'] === 'object' ? { ...copy, additionalProperties: false } : copy
}
