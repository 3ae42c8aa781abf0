import { AppError, toAppError } from '../../errors/app-error.js'
import type { ErrorDetail, ErrorKind } from '../../errors/app-error.js'

/**
 * An AppError as a plain value, because class instances do not survive the transfer to another
 * thread or process.
 */
export interface Failure {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly retryAfterSeconds: number | undefined
  /** The stack of its cause, for the log. */
  readonly cause: string | undefined
}

/** Converts a thrown value for transfer to another thread. */
export function toFailure(raw: unknown): Failure {
  const { kind, code, message, details, retryAfterSeconds, cause } = toAppError(raw)
  const stack = cause instanceof Error ? cause.stack : undefined
  return { kind, code, message, details, retryAfterSeconds, cause: stack }
}

/** Converts it back to an error. */
export function fromFailure({ kind, message, cause, retryAfterSeconds, ...rest }: Failure): AppError {
  return new AppError(kind, message, {
    ...rest,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  })
}
