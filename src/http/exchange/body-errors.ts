import { AppError } from '../../errors/app-error.js'

/** What a body over `limit` bytes is answered with, packed or unpacked. */
export function bodyTooLarge(limit: number): AppError {
  return new AppError(
    'too_large',
    `the request body is over the limit of ${limit} bytes (server.maxBodyBytes)`,
  )
}

/** What a request comes to whose caller went away in its middle; told to the log, since nobody is there to hear it. */
export function bodyIncomplete(cause?: unknown): AppError {
  return new AppError('invalid', 'the request ended before its body did', { cause })
}

/** What a request is told whose body was given up for others. */
export function tooManyPartialBodies(): AppError {
  return new AppError('unavailable', 'too many bodies are being received at once; try again')
}

/** The same body, but where it is too large the error says which limit that is: `message` instead of the server's own. */
export async function withLimitMessage<T>(body: T | Promise<T>, message: string): Promise<T> {
  try {
    return await body
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'too_large') throw error
    throw new AppError('too_large', message, { cause: error })
  }
}
