import { z } from 'zod'
import { AppError, toAppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { readBySchema } from '../../lib/validation/read-by-schema.js'
import { isRecord } from '../../lib/validation/record.js'
import { isRootOver, ownedRoots } from '../archive/roots.js'
import { dataOverRule, dataOverRules } from '../compile/refuse-data-over-rules.js'
import { findConflict } from '../data/data-conflicts.js'
import type { EvaluatedPackages } from '../lint/evaluated-packages.js'
import { packageAnnotations, readPackageComment } from '../modules/package-comment.js'
import type { RegoModule } from '../modules/rego-module.js'
import type { PolicyPart, PathOwner } from '../snapshot/policy-part.js'
import type { Entrypoint } from '../snapshot/snapshot.js'
import { LEVELS } from '../values/level.js'
import type { StatedLevel } from '../values/level.js'
import { distinctPaths, pathKey, pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import { VERDICT_RULES, verdictOf } from '../values/verdict-rules.js'

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
function findUnansweredPackages(
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

/** Raises `invalid`, naming both parts, if two parts own the same path. */
export function refuseSharedRoots(parts: readonly PolicyPart[]): void {
  // Ownership of the root would require reading all members of `data`.
  if (parts.length < 2 && parts[0]?.owners === undefined) return
  const owned = parts.flatMap(ownersOf)
  const details = owned.flatMap((part, index) =>
    owned.slice(index + 1).flatMap((other) => {
      const shared = findShared(part.roots, other.roots)
      if (shared === undefined) return []
      const message = `${part.name} owns '${shared[0]}' and ${other.name} owns '${shared[1]}'`
      return [{ code: 'overlapping_roots', message }]
    }),
  )
  if (details.length === 0) return
  const pairs = details.map(({ message }) => message).join('; ')
  throw new AppError(
    'invalid',
    `the loaded policy sets own the same paths: ${pairs}: load only one of them, or give their manifests roots apart from each other`,
    { code: 'overlapping_roots', details },
  )
}

function ownersOf({ name, packages, data, roots, owners }: PolicyPart): readonly PathOwner[] {
  return owners ?? [{ name, roots: roots ?? ownedRoots(packages, data) }]
}

function findShared(roots: readonly string[], others: readonly string[]): [string, string] | undefined {
  for (const root of roots) {
    const other = others.find((path) => isRootOver(root, path) || isRootOver(path, root))
    if (other !== undefined) return [root, other]
  }
  return undefined
}

/** Raises `invalid`, naming both parts, if the data of one has a value at a rule of another. */
export function refuseDataOverEntrypoints(
  parts: readonly PolicyPart[],
  entrypoints: readonly { readonly path: readonly string[] }[],
): void {
  const documents = parts.flatMap((part) => part.documents)
  if (documents.length === 0) return
  const details = entrypoints.flatMap(({ path }) => {
    const holder = parts.find(({ isRule }) => isRule(path))
    const document = holder === undefined ? undefined : findConflict(documents, path)
    if (holder === undefined || document === undefined) return []
    const { code, message } = dataOverRule(path, document.file)
    return [{ code, message: `${message} (the rule is in ${holder.name})` }]
  })
  if (details.length > 0) throw dataOverRules(details)
}

/** The levels that annotations declare. */
interface DeclaredLevels {
  /** By the key of each package that has one. */
  readonly levels: ReadonlyMap<string, StatedLevel>
  /** Levels that cannot be read. Their packages are enforced. */
  readonly warnings: readonly ErrorDetail[]
}

/** Both must be in an annotation of a level. Most modules are not read further. */
const MARKS = ['METADATA', 'level']

const Until = z
  .string()
  .transform((text) => (/^\d{4}-/.test(text) ? readIsoTime(text, 'utc') : Number.NaN))
  .refine((ms) => Number.isFinite(ms), 'must be a date such as 2026-01-31 or an ISO 8601 time')

/** `off` is false in YAML 1.1, which OPA reads. */
const LevelName = z.preprocess((level) => (level === false ? 'off' : level), z.enum(LEVELS))

const Annotation = z.object({
  scope: z.string().default('package'),
  custom: z
    .object({
      // A level alone is short for an object, so that problems name the known levels.
      level: z.preprocess(
        (level) => (level === undefined || isRecord(level) ? level : { level }),
        z
          .strictObject({
            level: LevelName,
            applications: z.array(z.string().min(1)).min(1).optional(),
            until: Until.optional(),
            reason: z.string().optional(),
          })
          .optional(),
      ),
    })
    .optional(),
})

interface Declared {
  readonly key: string
  readonly includesBelow: boolean
  readonly stated: StatedLevel
}

/**
 * Reads `custom.level` of the annotations above packages: a level, or `{level, applications, until,
 * reason}`. The scope `subpackages` includes the packages below. `packages` are the keys of all
 * packages. A package with two different levels is enforced.
 */
export async function readDeclaredLevels(
  modules: readonly RegoModule[],
  packages: readonly string[],
): Promise<DeclaredLevels> {
  const declared: Declared[] = []
  const warnings: ErrorDetail[] = []
  for (const module of modules.filter(({ text }) => MARKS.every((mark) => text.includes(mark)))) {
    const comment = readPackageComment(module)
    for (const annotation of packageAnnotations(comment)) {
      try {
        const found = await readLevel(module, annotation)
        if (found !== undefined) declared.push(found)
      } catch (raw) {
        const location = { file: module.file, row: comment.packageLine + 1, col: 1 }
        warnings.push(unreadable(module.packagePath, raw, location))
        declared.push({ key: pathKey(module.packagePath), includesBelow: true, stated: { level: 'enforce' } })
      }
    }
  }
  const written = new Set(modules.map(({ packagePath }) => pathKey(packagePath)))
  const levels = new Map<string, StatedLevel>()
  for (const key of declared.length === 0 ? [] : packages) {
    const stated = levelOf(key, declared, written)
    if (stated !== undefined) levels.set(key, stated)
  }
  return { levels, warnings }
}

/**
 * Returns the level of a package: its own, else that of the nearest package above that includes it.
 * A document with verdicts below a package has the level of the package.
 */
function levelOf(
  key: string,
  declared: readonly Declared[],
  written: ReadonlySet<string>,
): StatedLevel | undefined {
  const path = pathOfKey(key)
  let isOwn = true
  for (let length = path.length; length > 0; length--) {
    const above = pathKey(path.slice(0, length))
    const found = declared.filter((level) => level.key === above && (isOwn || level.includesBelow))
    if (found.length > 0) return strictest(found)
    if (written.has(above)) isOwn = false
  }
  return undefined
}

/** Modules of one package may state its level more than once. */
function strictest(found: readonly Declared[]): StatedLevel {
  const [first, ...others] = found.map(({ stated }) => stated)
  const isSame = others.every((other) => JSON.stringify(other) === JSON.stringify(first))
  return first !== undefined && isSame ? first : { level: 'enforce' }
}

function unreadable(
  packagePath: readonly string[],
  raw: unknown,
  location: NonNullable<ErrorDetail['location']>,
): ErrorDetail {
  const name = printPackageName(packagePath)
  return {
    code: 'bad_level',
    message: `custom.level of package ${name} cannot be read, so the package is enforced: ${toAppError(raw).message}`,
    location,
  }
}

async function readLevel(module: RegoModule, yaml: string): Promise<Declared | undefined> {
  const { yamlToJson } = await import('../builtins/yaml/yaml.js')
  const annotation: unknown = JSON.parse(yamlToJson(yaml, module.text.length))
  const { scope, custom } = readBySchema(Annotation, annotation, {
    name: 'the annotation',
    code: 'bad_level',
  })
  if (custom?.level === undefined) return undefined
  const { until: untilMs, ...stated } = custom.level
  const key = pathKey(module.packagePath)
  return { key, includesBelow: scope === 'subpackages', stated: { ...stated, untilMs } }
}
