/**
 * The evaluations in which a failed built-in is an error. In all others its expression is
 * undefined, as in OPA.
 */
export type StrictBuiltinErrors = 'verdicts' | 'all' | 'off'

/** The handling of failed built-ins in an evaluation. */
export interface Strictness {
  readonly strictBuiltinErrors: boolean
  /** True if the answer allows or denies something. */
  readonly isVerdict: boolean
}

/** Returns the strictness of an evaluation under `policies.strictBuiltinErrors`. */
export function strictnessOf(setting: StrictBuiltinErrors, isVerdict: boolean): Strictness {
  const strictBuiltinErrors = setting === 'all' || (setting === 'verdicts' && isVerdict)
  return { strictBuiltinErrors, isVerdict }
}
