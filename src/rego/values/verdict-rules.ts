/** The rules whose value is a list of reasons against. */
export const DENY_RULES: readonly string[] = ['deny', 'violation']
/** The rule whose value must be true. */
export const ALLOW_RULE = 'allow'
/** The rules that state a verdict. */
export const VERDICT_RULES: readonly string[] = [...DENY_RULES, ALLOW_RULE]

/** The rule whose reasons warn without denying, as in Conftest. */
export const WARN_RULE = 'warn'

/** Returns the document of a `warn` rule for its path; undefined for other rules. */
export function warningOf(path: readonly string[]): readonly string[] | undefined {
  const at = path.indexOf(WARN_RULE)
  return at === -1 ? undefined : path.slice(0, at)
}

/** A verdict rule by the document that it is a member of. */
export interface PathVerdict {
  /**
   * The document below the package: empty for `deny`, `prod` for `prod.deny`, which counts as
   * `deny` of the package `prod` below.
   */
  readonly document: readonly string[]
  readonly rule: string
}

/**
 * Returns the verdict rule and its document for a rule's path; undefined for other rules. Paths
 * below a verdict rule are part of its value.
 */
export function verdictOf(path: readonly string[]): PathVerdict | undefined {
  const at = path.findIndex((segment) => VERDICT_RULES.includes(segment))
  return at === -1 ? undefined : { document: path.slice(0, at), rule: path[at] ?? '' }
}
