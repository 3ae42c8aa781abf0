import { AppError } from '../errors.js'

/** The error for a path, or for packages, that state no verdict: never an allow. */
export function undefinedPolicy(message: string): AppError {
  return new AppError('evaluation_failed', message, { code: 'undefined_policy' })
}
