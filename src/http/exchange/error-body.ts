import { cutText } from '../../lib/text/shown-text.js'
import type { ErrorKind } from '../../errors/app-error.js'
import { AppError } from '../../errors/app-error.js'

/** A path that is there, asked with a method that it does not have. */
export class MethodNotAllowed extends AppError {
  readonly allowed: readonly string[]

  constructor(method: string, path: string, allowed: readonly string[]) {
    super('method_not_allowed', `${method} is not possible on ${path}: use ${allowed.join(' or ')}`)
    this.allowed = allowed
  }
}

/** The one table from kinds of error to HTTP status. */
const STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  evaluation_failed: 500,
  internal: 500,
  unavailable: 503,
}

/** The kind of error that a status tells of, read from the table the other way round. */
export function errorKindOf(status: number): ErrorKind {
  const kinds = Object.keys(STATUS) as ErrorKind[]
  return kinds.find((kind) => STATUS[kind] === status) ?? (status >= 500 ? 'unavailable' : 'invalid')
}

const RETRY_AFTER_SECONDS = '1'

/** An error as it goes over the wire. */
export interface ErrorAnswer {
  readonly status: number
  /** OPA's shape, indented by two spaces as OPA does for every error. */
  readonly body: string
  /** What the status asks for beside the body. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a person reads at one glance, in a notice of the orchestrator's interface. */
const MAX_LINE = 400

/** The status and body that an error is answered with. */
export function errorAnswer(error: AppError): ErrorAnswer {
  const { code, message, details } = error
  const body = details.length === 0 ? { code, message } : { code, message, errors: details }
  return { status: STATUS[error.kind], body: `${JSON.stringify(body, null, 2)}\n`, headers: headersOf(error) }
}

/** The same in one short line, for callers that show the body to people as it is. */
export function errorLine(error: AppError): ErrorAnswer {
  const { code, message } = error
  const line = cutText(message.replaceAll(/\s+/g, ' '), MAX_LINE)
  return { ...errorAnswer(error), body: JSON.stringify({ code, message: line }) }
}

/**
 * RFC 9110: a 405 names the methods that there are (15.5.6), a 401 the way to authenticate (15.5.2), and Retry-After when to ask again
 * (10.2.3).
 */
function headersOf(error: AppError): Record<string, string> {
  if (error.retryAfterSeconds !== undefined) return { 'Retry-After': String(error.retryAfterSeconds) }
  if (error instanceof MethodNotAllowed) return { Allow: error.allowed.join(', ') }
  if (error.kind === 'unavailable') return { 'Retry-After': RETRY_AFTER_SECONDS }
  return error.kind === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer realm="tidegate"' } : {}
}
