import { z } from 'zod'

import type { Exchange } from '../exchange/exchange.js'
import { readSentDocument, readSentRegistration } from './read-document.js'
import type { SentDocument } from './read-document.js'
import { parseJsonBody, readJsonBody } from './read-json-body.js'
import type { ParsedBody } from './read-json-body.js'

/** What a body may be, for the description of the API. */
export interface BodyDescription {
  readonly description?: string
  readonly schema: z.ZodType
  /** `application/json` where none is named. */
  readonly types?: readonly string[]
  readonly isOptional?: true
}

/** How the body of a request is read; `D` is what its route is given. */
export interface BodyReader<D, T> extends BodyDescription {
  /** Raises the errors of what cannot be read: `unsupported_media_type`, `too_large`, `invalid`. */
  readonly read: (exchange: Exchange, deps: D) => Promise<T>
}

/** What the readers need of a route. */
export interface BodyLimits {
  readonly maxBodyBytes: number
}

/** JSON, as a schema reads it. */
export function jsonBody<S extends z.ZodType>(schema: S): BodyReader<BodyLimits, z.output<S>> {
  return { schema, read: (exchange, { maxBodyBytes }) => readJsonBody(exchange, schema, maxBodyBytes) }
}

/** The same with the bytes that were sent. */
export function jsonBodyWithBytes<S extends z.ZodType>(
  schema: S,
): BodyReader<BodyLimits, ParsedBody<z.output<S>>> {
  return { schema, read: (exchange, { maxBodyBytes }) => parseJsonBody(exchange, schema, maxBodyBytes) }
}

/** A template or a definition, which is kept as it was sent; `what` names it in errors. */
export function documentBody(what: string): BodyReader<BodyLimits, SentDocument> {
  return {
    description: `A JSON document: ${what}.`,
    schema: z.looseObject({}),
    read: (exchange, { maxBodyBytes }) => readSentDocument(exchange, maxBodyBytes, what),
  }
}

/** The registration of an analysis, in any of the forms that its callers send. */
export const registrationBody: BodyReader<BodyLimits, unknown> = {
  description: 'The registration as the contract, the verification stages or the Argo job send it.',
  schema: z.looseObject({ application: z.string() }),
  read: (exchange, { maxBodyBytes }) => readSentRegistration(exchange, maxBodyBytes),
}
