import { AppError } from '../errors.js'

/** A path that is there, asked with a method that it does not have. */
export class MethodNotAllowed extends AppError {
  readonly allowed: readonly string[]

  constructor(method: string, path: string, allowed: readonly string[]) {
    super('method_not_allowed', `${method} is not possible on ${path}: use ${allowed.join(' or ')}`)
    this.allowed = allowed
  }
}
