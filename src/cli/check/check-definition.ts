import { AppError, toError } from '../../errors/app-error.js'
import { evaluateStaticPolicies, selectPackages } from '../../pdp/evaluation/evaluate-static-policies.js'
import { newCall } from '../../pdp/evaluation/new-call.js'
import type { Snapshot } from '../../pdp/snapshot/snapshot.js'
import type { OpenPolicies } from '../input/open-policies.js'
import type { CheckResult } from './check-report.js'
import type { Definition } from './read-definitions.js'

/** The packages of the static policies. Raises `invalid` when there are none: nothing would ever be denied. */
export function staticPackages({ config, snapshot }: OpenPolicies): string[] {
  const patterns = config.policies.staticPackages
  const packages = selectPackages(snapshot, patterns)
  if (packages.length > 0) return packages
  throw new AppError(
    'invalid',
    `none of the loaded packages is a static policy: policies.staticPackages is ${patterns.join(', ') || 'empty'}`,
  )
}

/** What the static policies say of one definition; `file` says where it is from. */
export function checkDefinition(
  file: string,
  { name, input }: Definition,
  snapshot: Snapshot,
  packages: readonly string[],
): CheckResult {
  try {
    const verdict = evaluateStaticPolicies(snapshot, packages, input, newCall())
    const denials = verdict.denials.map(({ packageName, text }) => ({ package: packageName, text }))
    return { file, name, allowed: denials.length === 0, denials }
  } catch (raw) {
    return { file, name, error: toCheckError(raw) }
  }
}

/** Anything thrown while something is checked, as an AppError that keeps its text. */
export function toCheckError(raw: unknown): AppError {
  return raw instanceof AppError ? raw : new AppError('internal', toError(raw).message, { cause: raw })
}
