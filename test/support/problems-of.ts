import { AppError } from '../../src/errors/app-error.js'

/**
 * The problems of an action, one sentence each. Empty if it succeeds. Other errors than AppErrors
 * are rethrown.
 */
export function problemsOf(act: () => unknown): string[] {
  try {
    act()
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    return raw.details.length === 0 ? [raw.message] : raw.details.map(({ message }) => message)
  }
  return []
}
