import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { Enforcement, evaluatesBy } from '../../enforcement/enforcement.js'
import type { Verdict } from '../../enforcement/verdict.js'
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
  strictnessOf,
  type EvaluationCall,
  type PolicyRequests,
  type Snapshot,
} from '../../rego/index.js'
import type { OpenPolicies } from '../input/open-policies.js'
import { bookOf, exceptionProblems } from '../input/read-exceptions.js'
import type { ReadExceptions } from '../input/read-exceptions.js'
import type { CheckResult } from './check-report.js'
import type { Definition, InputForm } from '../input/read-definitions.js'

/** Judges definitions as the service does when a pipeline is saved. */
export interface Checking {
  /** The keys of the evaluated packages. */
  readonly packages: readonly string[]
  /** Problems with the levels of packages and with the exceptions. */
  readonly problems: readonly ErrorDetail[]
  /** Raises the errors of the evaluation. */
  readonly judge: (input: Uint8Array, requests: PolicyRequests) => Promise<Verdict>
}

/** What decides in addition to the policies. */
export interface CheckedBy {
  readonly form?: InputForm | undefined
  readonly exceptions: ReadExceptions
}

/**
 * Returns the check of definitions by the configured levels and given exceptions. Raises `invalid`
 * if no package would be evaluated, since nothing would ever be denied.
 */
export function openChecking(policies: OpenPolicies, { form, exceptions }: CheckedBy): Checking {
  const { config, snapshot } = policies
  const packages = savePackages(policies, form)
  const enforcement = new Enforcement({ levels: config.policies.levels, exceptions: bookOf(exceptions) })
  const strictness = strictnessOf(config.policies.strictBuiltinErrors, true)
  return {
    packages,
    problems: [
      ...enforcement.levels.problems(snapshot, Date.now()),
      ...exceptionProblems(exceptions, snapshot),
    ],
    judge: async (input, requests) => {
      const nowMs = Date.now()
      const shared = { ...strictness, nowMs, recorded: new Map() }
      const run = <A>(evaluate: (call: EvaluationCall) => A): Promise<A> =>
        evaluateWithAnswers(evaluate, requests, shared)
      // Armory's Policy Engine reads the documents of the Data API, which have no levels.
      if (form === 'armory') {
        const evaluate = (call: EvaluationCall) => evaluateStaticPolicies(snapshot, packages, input, call)
        return { denials: (await run(evaluate)).denials, warnings: [] }
      }
      return await enforcement.static(evaluatesBy(run), snapshot, packages, input, { nowMs })
    },
  }
}

/** Maximum package names in a message. */
const MAX_NAMES = 10

/** The static packages, or those that Armory's Policy Engine evaluates for saves. */
function savePackages({ config, snapshot, directories }: OpenPolicies, form?: InputForm): readonly string[] {
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
  { judge }: Checking,
  requests: PolicyRequests,
): Promise<CheckResult> {
  try {
    const { denials, warnings } = await judge(input, requests)
    return {
      ...{ file, name, as: form, allowed: denials.length === 0 },
      denials: denials.map(({ packageName, text }) => ({ package: packageName, text })),
      warnings: warnings.map(({ packageName, ...warning }) => ({ package: packageName, ...warning })),
    }
  } catch (raw) {
    return { file, name, error: toCheckError(raw) }
  }
}

/** Converts anything thrown by a check to an AppError with its message. */
export function toCheckError(raw: unknown): AppError {
  return raw instanceof AppError ? raw : new AppError('internal', toError(raw).message, { cause: raw })
}
