import { z } from 'zod'

import type { Exchange } from '../exchange/exchange.js'
import { readSentDocument, readSentRegistration } from './read-document.js'
import type { SentDocument } from './read-document.js'
import { parseJsonBody, readJsonBody } from './read-json-body.js'
import type { ParsedBody } from './read-json-body.js'

/** A request body, as described in the OpenAPI document. */
export interface BodyDescription {
  readonly description?: string
  readonly schema: z.ZodType
  /** Media types; `application/json` by default. */
  readonly types?: readonly string[]
  /** Media types of bodies that are no JSON, without a schema. */
  readonly binaryTypes?: readonly string[]
  readonly isOptional?: true
}

/** Reads the body of a request. `D` is the type of the route's dependencies. */
export interface BodyReader<D, T> extends BodyDescription {
  /** Raises `unsupported_media_type`, `too_large` or `invalid`. */
  readonly read: (exchange: Exchange, deps: D) => Promise<T>
}

/** The dependencies that body readers need. */
export interface BodyLimits {
  readonly maxBodyBytes: number
}

/** Reads JSON by a schema. */
export function jsonBody<S extends z.ZodType>(schema: S): BodyReader<BodyLimits, z.output<S>> {
  return { schema, read: (exchange, { maxBodyBytes }) => readJsonBody(exchange, schema, maxBodyBytes) }
}

/** Reads JSON by a schema and returns the raw bytes, too. */
export function jsonBodyWithBytes<S extends z.ZodType>(
  schema: S,
): BodyReader<BodyLimits, ParsedBody<z.output<S>>> {
  return { schema, read: (exchange, { maxBodyBytes }) => parseJsonBody(exchange, schema, maxBodyBytes) }
}

/** Reads a template or definition, which is stored as sent. `what` names it in errors. */
export function documentBody(what: string): BodyReader<BodyLimits, SentDocument> {
  return {
    description: `A JSON document: ${what}.`,
    schema: z.looseObject({}),
    read: (exchange, { maxBodyBytes }) => readSentDocument(exchange, maxBodyBytes, what),
  }
}

/** Reads the registration of an analysis in any of its accepted forms. */
export const registrationBody: BodyReader<BodyLimits, unknown> = {
  description:
    'The registration in the form of the API specification, the verification stages or the Argo job.',
  schema: z.looseObject({ application: z.string() }),
  read: (exchange, { maxBodyBytes }) => readSentRegistration(exchange, maxBodyBytes),
}
