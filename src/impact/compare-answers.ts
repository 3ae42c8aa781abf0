import type { PackageDenials } from '../rego/index.js'
import type { CaseAnswer, CaseAnswers } from './evaluate-case.js'

/** Kinds of differences between the answers of two revisions, the most important first. */
export const CHANGES = [
  'allow_to_deny',
  'deny_to_allow',
  'new_error',
  'error_gone',
  'reasons',
  'value',
  'warnings',
] as const
export type Change = (typeof CHANGES)[number]

/** Returns how two answers differ; undefined if they are the same. */
export function changeOf({ before, after }: CaseAnswers): Change | undefined {
  if (before.outcome === 'error' || after.outcome === 'error') {
    if (before.outcome === after.outcome) return undefined
    return after.outcome === 'error' ? 'new_error' : 'error_gone'
  }
  const [denied, denies] = [before.outcome === 'deny', after.outcome === 'deny']
  if (isVerdict(before) && isVerdict(after) && denied !== denies)
    return denies ? 'allow_to_deny' : 'deny_to_allow'
  if (!isVerdict(before) || !isVerdict(after))
    return before.outcome === after.outcome && before.value === after.value ? undefined : 'value'
  if (changedPackages(before.reasons, after.reasons).length > 0) return 'reasons'
  if (before.value !== after.value) return 'value'
  return changedPackages(before.warnings, after.warnings).length > 0 ? 'warnings' : undefined
}

function isVerdict({ outcome }: CaseAnswer): boolean {
  return outcome === 'allow' || outcome === 'deny'
}

/** Returns the packages whose reasons differ, in order of name. */
export function changedPackages(
  before: readonly PackageDenials[],
  after: readonly PackageDenials[],
): readonly string[] {
  const [old, now] = [textsByPackage(before), textsByPackage(after)]
  const names = new Set([...old.keys(), ...now.keys()])
  return [...names].filter((name) => old.get(name) !== now.get(name)).sort()
}

/** The reasons of each package as one text, which does not depend on their order. */
function textsByPackage(reasons: readonly PackageDenials[]): Map<string, string> {
  return new Map(reasons.map(({ package: name, deny }) => [name, JSON.stringify([...deny].sort())]))
}
