/** Which evaluations end with an error when a built-in fails; in all others its expression is undefined, as in OPA. */
export type StrictBuiltinErrors = 'verdicts' | 'all' | 'off'

/** How one evaluation treats built-ins that fail. */
export interface Strictness {
  readonly strictBuiltinErrors: boolean
  /** True if the answer allows or denies something. */
  readonly isVerdict: boolean
}

/** The strictness of an evaluation under `policies.strictBuiltinErrors`. */
export function strictnessOf(setting: StrictBuiltinErrors, isVerdict: boolean): Strictness {
  const strictBuiltinErrors = setting === 'all' || (setting === 'verdicts' && isVerdict)
  return { strictBuiltinErrors, isVerdict }
}
