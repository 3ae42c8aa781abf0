import { AppError } from '../../errors/app-error.js'

/** A decision that cannot be made, since what a policy asks for may not be asked, or not so much: a limit is never an allow. */
export function requestRefused(message: string, cause?: unknown): AppError {
  return new AppError('evaluation_failed', message, { code: 'evaluation_request_refused', cause })
}
