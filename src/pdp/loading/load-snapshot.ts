import { readFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { findBaseDenials } from '../evaluation/base-denials.js'
import type { Builtins, BuiltinTable } from '../builtins/shared/builtin.js'
import { describeBundle } from '../bundle/describe-bundle.js'
import { readBundle } from '../archive/read-bundle.js'
import { refuseEntrypointsOutsideRoots } from '../bundle/refuse-outside-roots.js'
import { ownedRoots } from '../archive/roots.js'
import { NO_VERIFICATION } from '../bundle/signing/verification.js'
import type { BundleVerification } from '../bundle/signing/verification.js'
import { verifyBundle } from '../bundle/signing/verify-bundle.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import { compilePolicies } from '../compile/compile-policies.js'
import { locateCalls } from '../compile/locate-calls.js'
import { withoutRoot } from '../compile/stage-bundle.js'
import { checkEntrypoints } from './check-entrypoints.js'
import { analyseParts } from '../lint/analyse-parts.js'
import type { PartAnalysisOptions } from '../lint/analyse-parts.js'
import { AskedPackages } from '../lint/asked-packages.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey, pathOfKey } from '../rego/path-key.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { publicNames } from '../snapshot/public-names.js'
import { refuseDataOverEntrypoints, refuseSharedRoots } from './refuse-shared-paths.js'
import { mergeDocuments } from '../rego/merge-documents.js'
import { printJson } from '../rego/print-text.js'
import { RegoObject } from '../rego/value.js'
import { groupByPath } from '../snapshot/snapshot.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import { PolicyModule } from '../wasm/policy-module.js'

export interface PolicyLocations {
  /** Rego directories or files, compiled together. */
  readonly directories: readonly string[]
  /** OPA bundles (`.tar.gz`) with a `policy.wasm`. */
  readonly bundles: readonly string[]
  readonly includeTests?: boolean
}

export interface LoadOptions {
  /** Finds the compiler; called only when there is Rego to compile. */
  readonly findOpa: () => Promise<OpaProgram>
  readonly builtins: Builtins
  readonly limits: EvaluationLimits
  /** How bundles are verified; called only when there are bundles. Without it a signed bundle is refused. */
  readonly verification?: () => BundleVerification
  /** How policies are looked through for mistakes that compile; they are not when absent. */
  readonly analysis?: PartAnalysisOptions
  /** Whether evaluation errors name files by paths that a person on this machine can open; callers get them below their roots. */
  readonly showsWholePaths?: boolean
}

/**
 * Compiles and loads policies and data into one immutable snapshot. Raises `invalid` naming every problem: Rego that
 * does not compile, a damaged bundle, data given twice, a built-in that is not there.
 */
export async function loadSnapshot(locations: PolicyLocations, options: LoadOptions): Promise<Snapshot> {
  const parts = await Promise.all([
    ...(locations.directories.length > 0 ? [compileDirectories(locations, options)] : []),
    ...openBundles(locations.bundles, options),
  ])
  refuseSharedRoots(parts)
  const data = mergePartData(parts)
  const loaded = new Map(
    await Promise.all(parts.map(async (part) => [part, await loadModule(part, data, options)] as const)),
  )
  const entrypoints = [...loaded.values()].flat()
  refuseDataOverEntrypoints(parts, entrypoints)
  const { analysis } = options
  const entrypointsOf = (part: PolicyPart): readonly Entrypoint[] => loaded.get(part) ?? []
  const asked = analysis === undefined ? undefined : new AskedPackages(analysis.staticPackages)
  const answered = checkEntrypoints(parts, entrypointsOf, asked)
  const found =
    analysis === undefined
      ? []
      : await analyseParts(parts, data, analysis, (part) => entrypointsOf(part).map(({ path }) => path))
  const packagePaths = [...parts.flatMap(({ packages }) => packages), ...answered.guessedPackages]
  const packages = [...new Set(packagePaths.map(pathKey))].sort()
  const names = publicNames(locations.directories, locations.bundles)
  const show = options.showsWholePaths === true ? (file: string) => file : names.file
  return {
    revision: parts.map(({ revision }) => revision).join('+'),
    sources: parts.map(({ paths, revision }) => ({ name: paths.map(names.root).join(','), revision })),
    entrypoints: groupByPath(entrypoints),
    packages,
    unanswered: answered.unanswered,
    baseDenials: findBaseDenials(packages, data),
    data,
    warnings: [...answered.warnings, ...found],
    locateSource: indexSources(parts, show),
    locateBuiltin: indexCalls(parts, show),
  }
}

async function compileDirectories(locations: PolicyLocations, options: LoadOptions): Promise<PolicyPart> {
  const { directories, includeTests = false } = locations
  const compiled = await compilePolicies(await options.findOpa(), directories, { includeTests })
  return {
    name: directories.join(','),
    paths: directories,
    revision: compiled.revision,
    wasm: compiled.wasm,
    data: compiled.data,
    documents: compiled.documents,
    roots: ownedRoots(compiled.packages, compiled.data),
    packages: compiled.packages,
    rego: compiled.modules,
    modules: compiled.modules,
    expectedEntrypoints: [...compiled.entrypoints].flatMap(([key, kind]) => (kind === 'rule' ? [key] : [])),
    listsPackages: true,
    sourceFile: (name) => compiled.sourceNames.get(withoutRoot(name)),
    keyOf: (entrypoint) => compiled.paths.get(entrypoint) ?? entrypoint,
    kindOf: (key) => compiled.entrypoints.get(key) ?? 'rule',
    isRule: (path) => compiled.entrypoints.get(pathKey(path)) === 'rule',
  }
}

function openBundles(files: readonly string[], options: LoadOptions): Promise<PolicyPart>[] {
  if (files.length === 0) return []
  const verification = options.verification?.() ?? NO_VERIFICATION
  return files.map((file) => openBundle(file, verification))
}

async function openBundle(file: string, verification: BundleVerification): Promise<PolicyPart> {
  const bytes = await readFile(file).catch((raw: unknown) => {
    throw new AppError('invalid', `read bundle ${file}: ${toError(raw).message}`, { cause: raw })
  })
  const files = await unpackBundle(file, bytes)
  verifyBundle(file, files, verification)
  return describeBundle(file, bytes, readBundle(file, files))
}

function mergePartData(parts: readonly PolicyPart[]): RegoObject {
  const merged = parts
    .map(({ data }) => data)
    .reduce((all, data) => mergeObjects(all, data), new RegoObject([]))
  return merged
}

function mergeObjects(first: RegoObject, second: RegoObject): RegoObject {
  const merged = mergeDocuments(first, second)
  return merged instanceof RegoObject ? merged : first
}

async function loadModule(part: PolicyPart, data: RegoObject, options: LoadOptions): Promise<Entrypoint[]> {
  if (part.wasm === undefined) return []
  const { builtins, limits } = options
  const module = await PolicyModule.compile(part.wasm, {
    builtins: builtins.table,
    limits,
    data: Buffer.from(printJson(data)),
  })
  refuseMissingBuiltins(part, module, builtins.table)
  await builtins.prepare(module.requiredBuiltins)
  const entrypoints = [...module.entrypoints].map(([name, number]) => {
    const key = part.keyOf(name)
    return { path: pathOfKey(key), kind: part.kindOf(key), module, number }
  })
  refuseEntrypointsOutsideRoots(part.name, part.roots, entrypoints)
  return entrypoints
}

/** A built-in that nobody supplies must not be found out by a request. */
function refuseMissingBuiltins(part: PolicyPart, module: PolicyModule, builtins: BuiltinTable): void {
  const missing = module.requiredBuiltins.filter((name) => builtins[name] === undefined)
  if (missing.length === 0) return
  const details = missing.flatMap((name) => {
    const message = `built-in function ${name} is not available`
    const calls = locateCalls(part.rego, name)
    return calls.length === 0
      ? [{ code: 'missing_builtin', message: `${message} (called in ${part.name})` }]
      : calls.map((location) => ({ code: 'missing_builtin', message, location }))
  })
  throw new AppError(
    'invalid',
    `the policies call built-in functions that are not available: ${missing.join(', ')}`,
    {
      details,
    },
  )
}

type ShowFile = (file: string) => string

/** An error location has the name that the compiler saw; a person knows the source file, shown as its reader may see it. */
function indexSources(parts: readonly PolicyPart[], show: ShowFile): Snapshot['locateSource'] {
  const texts = new Map(parts.flatMap(({ rego }) => rego.map(({ file, text }) => [file, text] as const)))
  return (compiledName, row) => {
    const names = parts.flatMap(({ sourceFile }) => sourceFile(compiledName) ?? [])
    const file = names.find((name) => texts.has(name)) ?? names[0] ?? compiledName
    return { file: show(file), line: texts.get(file)?.split('\n')[row - 1] }
  }
}

function indexCalls(parts: readonly PolicyPart[], show: ShowFile): Snapshot['locateBuiltin'] {
  const compiled = parts.filter(({ wasm }) => wasm !== undefined)
  // Which of several modules called is not told, and bundles may leave their Rego out.
  if (compiled.length !== 1) return () => undefined
  const known = new Map<string, ErrorDetail['location']>()
  return (name) => {
    if (!known.has(name)) {
      const calls = compiled.flatMap(({ rego }) => locateCalls(rego, name))
      const [only] = calls.length === 1 ? calls : []
      known.set(name, only === undefined ? undefined : { ...only, file: show(only.file) })
    }
    return known.get(name)
  }
}
