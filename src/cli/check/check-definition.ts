import { AppError, toError } from '../../errors/app-error.js'
import {
  ARMORY_SAVE_PACKAGES,
  EvaluatedPackages,
  VERDICT_RULES,
  evaluateStaticPolicies,
  evaluateWithAnswers,
  pathKey,
  pathOfKey,
  printPackageName,
  selectPackages,
  type EvaluationCall,
  type PolicyRequests,
  type Snapshot,
  type StaticVerdict,
  type Strictness,
} from '../../rego/index.js'
import type { OpenPolicies } from '../input/open-policies.js'
import type { CheckResult } from './check-report.js'
import type { Definition, InputForm } from '../input/read-definitions.js'
export interface Checking {
  readonly snapshot: Snapshot
  readonly requests: PolicyRequests
  /** Strictness of verdicts, as in the service. */
  readonly strictness: Strictness
}

/** Maximum package names in a message. */
const MAX_NAMES = 10

/**
 * Returns the packages that are evaluated when a pipeline is saved: the static ones, or those of
 * Armory's Policy Engine. Raises `invalid` if there are none, since nothing would ever be denied.
 */
export function savePackages(
  { config, snapshot, directories }: OpenPolicies,
  form?: InputForm,
): readonly string[] {
  if (form === 'armory') return armoryPackages(snapshot)
  const patterns = config.policies.staticPackages
  const packages = selectPackages(snapshot, patterns)
  if (packages.length > 0) return packages
  const loaded = listSome(snapshot.packages.map((key) => printPackageName(pathOfKey(key))))
  const hint =
    directories.length === 0
      ? ''
      : `. tidegate check ${directories.join(' ')} checks these policies themselves`
  throw new AppError(
    'invalid',
    `no loaded package (${loaded || 'none'}) is a static policy: policies.staticPackages is ${patterns.join(', ') || 'empty'}${hint}`,
  )
}

function armoryPackages(snapshot: Snapshot): readonly string[] {
  const packages = selectPackages(snapshot, ARMORY_SAVE_PACKAGES)
  if (packages.length > 0) return packages
  throw new AppError(
    'invalid',
    `none of the packages that Armory's Policy Engine evaluates for saves is loaded: ${ARMORY_SAVE_PACKAGES.join(', ')}`,
  )
}

/**
 * Returns a message about loaded packages that define a verdict but are never evaluated; undefined
 * if there are none.
 */
export function listUnevaluated({ config, snapshot }: OpenPolicies): string | undefined {
  const patterns = config.policies.staticPackages
  const asked = new EvaluatedPackages(patterns)
  const unasked = snapshot.packages
    .map(pathOfKey)
    .filter((path) => asked.callerKindOf(path) === 'nobody')
    .filter((path) => VERDICT_RULES.some((rule) => snapshot.entrypoints.has(pathKey([...path, rule]))))
  if (unasked.length === 0) return undefined
  const names = listSome(unasked.map(printPackageName))
  return `not evaluated, since policies.staticPackages is ${patterns.join(', ') || 'empty'}: ${names}`
}

/** Returns the first names of a list and the number of the others. */
export function listSome(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** Evaluates the static policies on a definition. `file` is its origin. */
export async function checkDefinition(
  file: string,
  { name, input, form }: Definition,
  { snapshot, requests, strictness }: Checking,
  packages: readonly string[],
): Promise<CheckResult> {
  try {
    const evaluate = (call: EvaluationCall): StaticVerdict =>
      evaluateStaticPolicies(snapshot, packages, input, call)
    const verdict = await evaluateWithAnswers(evaluate, requests, strictness)
    const denials = verdict.denials.map(({ packageName, text }) => ({ package: packageName, text }))
    return { file, name, as: form, allowed: denials.length === 0, denials }
  } catch (raw) {
    return { file, name, error: toCheckError(raw) }
  }
}

/** Converts anything thrown by a check to an AppError with its message. */
export function toCheckError(raw: unknown): AppError {
  return raw instanceof AppError ? raw : new AppError('internal', toError(raw).message, { cause: raw })
}
