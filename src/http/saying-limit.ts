import { AppError } from '../errors.js'

/** The same body, but where it is too large the error says which limit that is: `message` instead of the server's own. */
export async function sayingLimit<T>(body: Promise<T>, message: string): Promise<T> {
  try {
    return await body
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'too_large') throw error
    throw new AppError('too_large', message, { cause: error })
  }
}
