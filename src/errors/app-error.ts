/** Kinds of errors from the caller's point of view. Each has one HTTP status and one exit code. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'evaluation_failed'
  | 'unavailable'
  | 'internal'

/**
 * One of the problems that an error reports, in OPA's format: a code, a sentence and a location in
 * a file.
 */
export interface ErrorDetail {
  readonly code: string
  readonly message: string
  readonly location?: { readonly file: string; readonly row: number; readonly col: number }
}

interface AppErrorOptions {
  /** The wire code, such as `invalid_parameter`. Defaults to the code of the kind. */
  readonly code?: string
  readonly details?: readonly ErrorDetail[]
  /** Seconds after which a retry makes sense, if known. */
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

const DEFAULT_CODES: Readonly<Record<ErrorKind, string>> = {
  invalid: 'invalid_parameter',
  unauthenticated: 'unauthenticated',
  forbidden: 'forbidden',
  not_found: 'resource_not_found',
  method_not_allowed: 'method_not_allowed',
  conflict: 'resource_conflict',
  too_large: 'request_too_large',
  unsupported_media_type: 'unsupported_media_type',
  rate_limited: 'too_many_requests',
  evaluation_failed: 'internal_error',
  unavailable: 'unavailable',
  internal: 'internal_error',
}

/**
 * The only error that crosses module borders. `message` is safe to show and says what to do next.
 */
export class AppError extends Error {
  readonly kind: ErrorKind
  readonly code: string
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | undefined

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.kind = kind
    this.code = options.code ?? DEFAULT_CODES[kind]
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Converts a thrown value to an Error. Keeps the text of thrown strings. */
export function toError(raw: unknown): Error {
  if (raw instanceof Error) return raw
  if (typeof raw === 'string') return new Error(raw)
  return new Error(`thrown value: ${String(raw)}`, { cause: raw })
}

/** Whether a Node.js error has this code, such as ENOENT, EEXIST or EADDRINUSE. */
export function hasErrorCode(raw: unknown, code: string): boolean {
  return raw instanceof Error && 'code' in raw && raw.code === code
}

/**
 * Converts a thrown value to an AppError. Errors of other classes show no details to the caller.
 */
export function toAppError(raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  return new AppError('internal', 'internal error: see the log of the service', {
    cause: toError(raw),
  })
}
