import { AppError, toAppError } from '../../errors/app-error.js'
import type { ErrorDetail, ErrorKind } from '../../errors/app-error.js'

/** An AppError as a plain value: what crosses to another thread loses its class. */
export interface Failure {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** The stack of its cause, for the log. */
  readonly cause: string | undefined
}

/** Anything that was thrown, ready to cross to another thread. */
export function toFailure(raw: unknown): Failure {
  const { kind, code, message, details, cause } = toAppError(raw)
  return { kind, code, message, details, cause: cause instanceof Error ? cause.stack : undefined }
}

/** The error again, on the other side. */
export function fromFailure({ kind, code, message, details, cause }: Failure): AppError {
  return new AppError(kind, message, { code, details, ...(cause !== undefined && { cause }) })
}
