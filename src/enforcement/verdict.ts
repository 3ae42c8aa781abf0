import type { Denial, Warning } from '../rego/index.js'

/** The exception that excused a denial, as responses and the decision log show it. */
export interface UsedException {
  readonly id: number
  /** The user who added it. */
  readonly owner: string
  /** Its end, ISO 8601 in UTC. */
  readonly until: string
}

/** A reason that does not deny, and where it is from. */
export interface DecisionWarning extends Denial {
  readonly kind: Warning['kind'] | 'exception'
  /** For the kind `exception`. */
  readonly exception?: UsedException
}

/** The denials and warnings of a decision. A decision without denials allows. */
export interface Verdict {
  readonly denials: readonly Denial[]
  readonly warnings: readonly DecisionWarning[]
}

/**
 * A warning in a response. Clients that walk every object of a response accept it: it has no array,
 * no null, and no member `allow` or `deny`.
 */
export interface ShownWarning {
  readonly package: string
  readonly message: string
  readonly kind: DecisionWarning['kind']
  /** For the kind `level`. */
  readonly level?: 'warn'
  readonly exception?: UsedException
}

/** The reasons of a package in the decision log. */
interface LoggedPackage {
  readonly package: string
  readonly deny: readonly string[]
  readonly warnings?: readonly Omit<ShownWarning, 'package'>[]
}

/** Returns warnings as responses show them; undefined if there are none. */
export function shownWarnings(warnings: readonly DecisionWarning[]): readonly ShownWarning[] | undefined {
  if (warnings.length === 0) return undefined
  return warnings.map((warning) => ({ package: warning.packageName, ...withoutPackage(warning) }))
}

/**
 * Returns the reasons of a decision as JSON for the decision log, by package, denials first, in
 * order of first occurrence. Undefined without reasons.
 */
export function packagesJson(verdict: Verdict): Uint8Array | undefined {
  if (verdict.denials.length + verdict.warnings.length === 0) return undefined
  return Buffer.from(JSON.stringify(groupByPackage(verdict)))
}

function groupByPackage({ denials, warnings }: Verdict): LoggedPackage[] {
  const packages = new Map<string, { deny: string[]; warnings?: Omit<ShownWarning, 'package'>[] }>()
  const of = (name: string): NonNullable<ReturnType<(typeof packages)['get']>> => {
    const known = packages.get(name) ?? { deny: [] }
    packages.set(name, known)
    return known
  }
  for (const { packageName, text } of denials) of(packageName).deny.push(text)
  for (const warning of warnings) {
    const named = of(warning.packageName)
    named.warnings ??= []
    named.warnings.push(withoutPackage(warning))
  }
  return [...packages].map(([name, reasons]) => ({ package: name, ...reasons }))
}

function withoutPackage({ text, kind, exception }: DecisionWarning): Omit<ShownWarning, 'package'> {
  return {
    message: text,
    kind,
    ...(kind === 'level' && { level: 'warn' as const }),
    ...(exception !== undefined && { exception }),
  }
}
