import type { StoredDecision } from '../store/ports/decision-store.js'

/** A rule that may have given a reason. */
export interface NamedRule {
  /** The name of the rule: `deny`. */
  readonly rule: string
  readonly file: string
  readonly row: number
}

/** Returns the rules of a package that may have given a reason. */
export type FindRules = (packageName: string, reason: string) => readonly NamedRule[]

/** Finds the rules of the revision that served at a time; undefined if its sources are not stored. */
export type RulesOf = (revision: string, timeMs: number) => Promise<FindRules | undefined>

interface DenyingPackage {
  readonly package?: string
  readonly deny?: readonly string[]
}

/** Returns the denying packages of a decision, each with its rules and their reasons. */
export async function nameRules(
  decision: StoredDecision,
  rulesOf: RulesOf | undefined,
): Promise<StoredDecision> {
  const { packages, revision, timeMs } = decision
  const findRules = packages === null ? undefined : await rulesOf?.(revision, timeMs)
  if (packages === null || findRules === undefined) return decision
  const elements = readPackages(packages)
  if (elements === undefined) return decision
  const named = elements.map((element) => {
    const { package: name, deny = [] } = element
    return name === undefined ? element : { ...element, rules: groupByRule(name, deny, findRules) }
  })
  return { ...decision, packages: Buffer.from(JSON.stringify(named)) }
}

/** True if a decision has a rule of a name, or at a location such as `static/wait_time.rego:10`. */
export function hasRule({ packages }: Pick<StoredDecision, 'packages'>, wanted: string): boolean {
  const elements = packages === null ? [] : (readPackages(packages) ?? [])
  return elements.some(({ rules = [] }) =>
    rules.some(({ rule, file, row }) => rule === wanted || `${file}:${row}` === wanted),
  )
}

function readPackages(
  bytes: Uint8Array,
): (DenyingPackage & { readonly rules?: readonly NamedRule[] })[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    return Array.isArray(value) ? (value as DenyingPackage[]) : undefined
  } catch {
    return undefined
  }
}

function groupByRule(name: string, reasons: readonly string[], findRules: FindRules) {
  const found = new Map<string, NamedRule & { readonly deny: string[] }>()
  for (const reason of reasons) {
    for (const { rule, file, row } of findRules(name, reason)) {
      const key = `${file}:${row}`
      const known = found.get(key) ?? { rule, file, row, deny: [] }
      known.deny.push(reason)
      found.set(key, known)
    }
  }
  return [...found.values()]
}
