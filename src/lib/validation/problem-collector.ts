import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'

/** Collects the problems of several readings of one document, to report them together. */
export class ProblemCollector {
  readonly #failures: AppError[] = []

  /** Returns the result of a reading. Collects an `invalid` error and returns undefined. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (raw) {
      if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
      this.#failures.push(raw)
      return undefined
    }
  }

  /** Throws `invalid` with every problem once, if any reading failed. */
  raise(): void {
    const [first, ...others] = this.#failures
    if (first === undefined) return
    if (others.length === 0) throw first
    const details = new Map(this.#failures.flatMap(detailsOf).map((detail) => [detail.message, detail]))
    const messages = [...new Set(this.#failures.map(({ message }) => message))]
    throw new AppError('invalid', messages.join('; and '), { details: [...details.values()], cause: first })
  }
}

function detailsOf({ code, message, details }: AppError): readonly ErrorDetail[] {
  return details.length > 0 ? details : [{ code, message }]
}

/** Returns a 400 error that names every missing required field. */
export function missingFields(names: readonly string[]): AppError {
  return new AppError('invalid', `the body lacks required fields: ${names.join(', ')}`, {
    code: 'missing_fields',
    details: names.map((name) => ({ code: 'missing_field', message: `${name} is required` })),
  })
}
