import { AppError } from '../../errors/app-error.js'

/**
 * Ends a decision whose policy sends a request that is not allowed, or too many. A limit is never
 * an allow.
 */
export function requestRefused(message: string, cause?: unknown): AppError {
  return new AppError('evaluation_failed', message, { code: 'evaluation_request_refused', cause })
}
