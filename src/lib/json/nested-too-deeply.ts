import { AppError } from '../../errors.js'
import { MAX_NESTING } from './nesting.js'

/** The error for a body nested deeper than `MAX_NESTING`. */
export function nestedTooDeeply(): AppError {
  const text = `the body is nested too deeply: at most ${MAX_NESTING} levels are read`
  return new AppError('invalid', text, { code: 'nested_too_deeply' })
}
