import { AppError } from '../errors.js'

/** A 400 that names every required field that a body lacks. */
export function missingFields(names: readonly string[]): AppError {
  return new AppError('invalid', `the body lacks required fields: ${names.join(', ')}`, {
    code: 'missing_fields',
    details: names.map((name) => ({ code: 'missing_field', message: `${name} is required` })),
  })
}
