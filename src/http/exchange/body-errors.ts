import { AppError } from '../../errors/app-error.js'

/** The error for a body over `limit` bytes, before or after decompression. */
export function bodyTooLarge(limit: number): AppError {
  return new AppError('too_large', `the request body exceeds ${limit} bytes (server.maxBodyBytes)`)
}

/** The error for evaluations of one request that repeat a shared part too often. */
export function mergedTooLarge(shared: string, limit: number): AppError {
  return new AppError(
    'too_large',
    `the inputs exceed ${limit} bytes in total (server.maxBodyBytes) once ${shared} is part of each; send several requests`,
  )
}

/** The error for a request whose client disconnected. It is only logged. */
export function bodyIncomplete(cause?: unknown): AppError {
  return new AppError('invalid', 'the client disconnected before the end of the body', { cause })
}

/** The error for a request whose body was dropped to free memory. */
export function tooManyPartialBodies(): AppError {
  return new AppError('unavailable', 'too many request bodies are incomplete; retry later')
}

/** Replaces the message of a `too_large` error, so that it names the limit that applies. */
export async function withLimitMessage<T>(body: T | Promise<T>, message: string): Promise<T> {
  try {
    return await body
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'too_large') throw error
    throw new AppError('too_large', message, { cause: error })
  }
}
