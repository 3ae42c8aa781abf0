import { cutText } from '../../lib/text/shown-text.js'
import type { ErrorKind } from '../../errors/app-error.js'
import { AppError } from '../../errors/app-error.js'

/** The error for a known path with an unsupported method. */
export class MethodNotAllowed extends AppError {
  readonly allowed: readonly string[]

  constructor(method: string, path: string, allowed: readonly string[]) {
    super('method_not_allowed', `${method} is not allowed on ${path}; use ${allowed.join(' or ')}`)
    this.allowed = allowed
  }
}

/** HTTP status by kind of error. */
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

/** Returns the kind of error for an HTTP status. */
export function errorKindOf(status: number): ErrorKind {
  const kinds = Object.keys(STATUS) as ErrorKind[]
  return kinds.find((kind) => STATUS[kind] === status) ?? (status >= 500 ? 'unavailable' : 'invalid')
}

const RETRY_AFTER_SECONDS = '1'

/** An error response. */
export interface ErrorAnswer {
  readonly status: number
  /** OPA's error format, indented by two spaces as in OPA. */
  readonly body: string
  /** Headers that the status requires. */
  readonly headers: Readonly<Record<string, string>>
}

/** Maximum length of a one-line error, which is shown as a notice in the orchestrator's UI. */
const MAX_LINE = 400

/** Returns an error in OPA's format. */
export function errorBody({ code, message, details }: AppError): object {
  return details.length === 0 ? { code, message } : { code, message, errors: details }
}

/** Returns the response for an error. */
export function errorAnswer(error: AppError): ErrorAnswer {
  const body = `${JSON.stringify(errorBody(error), null, 2)}\n`
  return { status: STATUS[error.kind], body, headers: headersOf(error) }
}

/**
 * Returns the response for an error as a single short line, for clients that show error bodies
 * verbatim.
 */
export function errorLine(error: AppError): ErrorAnswer {
  const { code, message } = error
  const line = cutText(message.replaceAll(/\s+/g, ' '), MAX_LINE)
  return { ...errorAnswer(error), body: JSON.stringify({ code, message: line }) }
}

/**
 * Returns the headers that RFC 9110 requires: `Allow` for 405 (15.5.6), `WWW-Authenticate` for 401
 * (15.5.2) and `Retry-After` (10.2.3).
 */
function headersOf(error: AppError): Record<string, string> {
  if (error.retryAfterSeconds !== undefined) return { 'Retry-After': String(error.retryAfterSeconds) }
  if (error instanceof MethodNotAllowed) return { Allow: error.allowed.join(', ') }
  if (error.kind === 'unavailable') return { 'Retry-After': RETRY_AFTER_SECONDS }
  return error.kind === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer realm="tidegate"' } : {}
}
