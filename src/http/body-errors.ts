import { AppError } from '../errors.js'

/** What a body over `limit` bytes is answered with, packed or unpacked. */
export function bodyTooLarge(limit: number): AppError {
  return new AppError(
    'too_large',
    `the request body is over the limit of ${limit} bytes (server.maxBodyBytes)`,
  )
}

/** What a request comes to whose caller went away in its middle; told to the log, since nobody is there to hear it. */
export function bodyBrokeOff(cause?: unknown): AppError {
  return new AppError('invalid', 'the request ended before its body did', { cause })
}

/** What a request is told whose body was given up for others. */
export function tooManyHalfBodies(): AppError {
  return new AppError('unavailable', 'too many bodies are being received at once; try again')
}
