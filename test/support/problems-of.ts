import { AppError } from '../../src/errors/app-error.js'

/** What an action finds wrong, a sentence each; none where it ends well. Errors that are no AppError are thrown on. */
export function problemsOf(act: () => unknown): string[] {
  try {
    act()
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    return raw.details.length === 0 ? [raw.message] : raw.details.map(({ message }) => message)
  }
  return []
}
