import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { VERDICT_RULES, verdictOf } from '../values/verdict-rules.js'
import type { EvaluatedPackages } from '../lint/evaluated-packages.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { distinctPaths, pathKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import type { Entrypoint } from '../snapshot/snapshot.js'
import type { RegoModule } from '../modules/rego-module.js'

/** The paths that the modules of a snapshot do not answer. */
export interface EntrypointFindings {
  /** The keys of packages with verdict rules that no entrypoint answers. */
  readonly unanswered: ReadonlySet<string>
  /** Packages known from the names of entrypoints only, because their bundle lists none. */
  readonly guessedPackages: readonly (readonly string[])[]
  readonly warnings: readonly ErrorDetail[]
}

/**
 * Compares the expected entrypoints of each part with those of its module. Raises `invalid` if a
 * named entrypoint is missing, or if a package that is evaluated for verdicts has a verdict rule
 * without an entrypoint, because that rule would silently never be evaluated. `evaluated` is
 * undefined if no package is evaluated for verdicts.
 */
export function checkEntrypoints(
  parts: readonly PolicyPart[],
  entrypointsOf: (part: PolicyPart) => readonly Entrypoint[],
  evaluated: EvaluatedPackages | undefined,
): EntrypointFindings {
  const found = parts
    .filter(({ compiled }) => compiled !== undefined)
    .map((part) => checkPart(part, entrypointsOf(part), evaluated))
  const refused = found.flatMap(({ refusals }) => refusals)
  if (refused.length > 0)
    throw new AppError('invalid', 'packages of a bundle cannot be evaluated for their verdict', {
      code: 'missing_entrypoint',
      details: refused,
    })
  return {
    unanswered: new Set(found.flatMap(({ unanswered }) => unanswered)),
    guessedPackages: found.flatMap(({ guessed }) => guessed),
    warnings: found.flatMap(({ warnings }) => warnings),
  }
}

interface PartFindings {
  readonly unanswered: readonly string[]
  readonly guessed: readonly (readonly string[])[]
  readonly refusals: readonly ErrorDetail[]
  readonly warnings: readonly ErrorDetail[]
}

function checkPart(
  part: PolicyPart,
  entrypoints: readonly Entrypoint[],
  evaluated: EvaluatedPackages | undefined,
): PartFindings {
  const kinds = new Map(entrypoints.map(({ path, kind }) => [pathKey(path), kind]))
  refuseMissing(part, kinds)
  const isAnswered = (path: readonly string[]): boolean =>
    kinds.has(pathKey(path)) ||
    path.some((_, length) => length > 0 && kinds.get(pathKey(path.slice(0, length))) === 'rule')
  const unanswered = findUnansweredPackages(part.modules, isAnswered)
  const details = unanswered.map(({ path, rules }) => ({
    isEvaluated: evaluated !== undefined && evaluated.callerKindOf(path) !== 'nobody',
    detail: missingEntrypoint(part, path, rules),
  }))
  const guessed = part.listsPackages ? [] : guessPackages(entrypoints, evaluated)
  return {
    unanswered: unanswered.map(({ path }) => pathKey(path)),
    guessed,
    refusals: details.flatMap(({ isEvaluated, detail }) => (isEvaluated ? [detail] : [])),
    warnings: [
      ...details.flatMap(({ isEvaluated, detail }) => (isEvaluated ? [] : [detail])),
      ...(part.listsPackages ? [] : [unlistedPackages(part, guessed)]),
    ],
  }
}

function refuseMissing(part: PolicyPart, keys: ReadonlyMap<string, unknown>): void {
  const missing = part.expectedEntrypoints.filter((key) => !keys.has(key))
  if (missing.length === 0) return
  throw new AppError(
    'invalid',
    `the module of ${part.name} lacks entrypoints that it should have: ${missing.join(', ')}: build it again`,
    { code: 'missing_entrypoint' },
  )
}

function missingEntrypoint(
  { name }: PolicyPart,
  path: readonly string[],
  rules: readonly string[],
): ErrorDetail {
  const packageName = printPackageName(path)
  return {
    code: 'missing_entrypoint',
    message: `bundle ${name}: package ${packageName} has the rule ${rules.join(' and ')} but no entrypoint for it. Build the bundle with \`tidegate build\`, or with \`opa build --target wasm --entrypoint ${pathKey(path)}\` in addition to the others`,
  }
}

function unlistedPackages({ name }: PolicyPart, guessed: readonly (readonly string[])[]): ErrorDetail {
  const known = guessed.map(printPackageName).join(', ') || 'none'
  return {
    code: 'unlisted_packages',
    message: `bundle ${name} has neither Rego nor a list of its packages. Only packages named by its entrypoints are evaluated (${known}), and expressions that OPA compiles wrongly cannot be found. Build it with \`tidegate build\`, or keep its Rego`,
  }
}

/**
 * The parent of each verdict rule is a package. Other evaluated entrypoints are treated as
 * packages.
 */
function guessPackages(
  entrypoints: readonly Entrypoint[],
  evaluated: EvaluatedPackages | undefined,
): (readonly string[])[] {
  const paths = entrypoints.flatMap(({ path }) => {
    const isVerdict = path.length > 1 && VERDICT_RULES.includes(path.at(-1) ?? '')
    if (isVerdict) return [path.slice(0, -1)]
    return path.length > 0 && evaluated?.callerKindOf(path) === 'static' ? [path] : []
  })
  return distinctPaths(paths)
}

/** A package with a verdict rule in its sources that has no entrypoint in the module. */
export interface UnansweredPackage {
  readonly path: readonly string[]
  /** The verdict rules without an entrypoint. */
  readonly rules: readonly string[]
}

/** Returns the packages with verdict rules that no entrypoint answers. */
export function findUnansweredPackages(
  modules: readonly RegoModule[],
  isAnswered: (path: readonly string[]) => boolean,
): UnansweredPackage[] {
  const packages = new Map<string, { path: readonly string[]; rules: Set<string> }>()
  for (const { packagePath, rules } of modules) {
    for (const { path, isFunction } of rules) {
      const place = isFunction ? undefined : verdictOf(path)
      if (place === undefined) continue
      const document = [...packagePath, ...place.document]
      if (isAnswered([...document, place.rule])) continue
      const known = packages.get(pathKey(document)) ?? { path: document, rules: new Set<string>() }
      packages.set(pathKey(document), known)
      known.rules.add(place.rule)
    }
  }
  return [...packages.values()].map(({ path, rules }) => ({ path, rules: [...rules] }))
}
