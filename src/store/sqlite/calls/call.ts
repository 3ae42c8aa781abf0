import type { ErrorDetail, ErrorKind } from '../../../errors/app-error.js'
import { AppError, toAppError } from '../../../errors/app-error.js'

/** One operation to run, as it crosses a thread. */
export interface Call {
  readonly operation: string
  readonly args: unknown
}

/** What became of a call. */
export type Outcome =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly failure: Failure }

/** An AppError without its class, which no thread border lets through. */
export interface Failure {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** What is behind it, for the log. */
  readonly cause: string | undefined
}

/** Anything that was thrown, ready to cross a thread. */
export function toFailure(raw: unknown): Failure {
  const { kind, code, message, details, cause } = toAppError(raw)
  return { kind, code, message, details, cause: cause instanceof Error ? cause.stack : undefined }
}

/** The error again, on the other side. */
export function fromFailure({ kind, code, message, details, cause }: Failure): AppError {
  return new AppError(kind, message, { code, details, ...(cause !== undefined && { cause }) })
}
