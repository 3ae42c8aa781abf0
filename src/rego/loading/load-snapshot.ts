import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { findBaseDenials } from '../evaluation/denials.js'
import type { Builtins } from '../builtins/shared/builtin.js'
import { publishableOf } from '../bundle/publish-bundle.js'
import { refuseEntrypointsOutsideRoots } from '../bundle/refuse-outside-roots.js'
import { locateCalls } from '../modules/locate-calls.js'
import { withSourceColumns } from '../modules/source-columns.js'
import { indexCalls, indexSources } from './locate-sources.js'
import { partData } from '../data/base-document.js'
import { loadData } from '../data/load-data.js'
import type { LoadedData } from '../data/load-data.js'
import {
  checkEntrypoints,
  refuseDataOverEntrypoints,
  refuseSharedRoots,
  readDeclaredLevels,
} from './check-entrypoints.js'
import { isTestFile } from '../compile/collect-sources.js'
import { analyseParts } from '../lint/analyse-parts.js'
import type { PartAnalysisOptions } from '../lint/analyse-parts.js'
import { EvaluatedPackages } from '../lint/evaluated-packages.js'
import { KEEPING_ENTRYPOINT, isGenerated } from '../modules/generated-entrypoints.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import type { PartModule, PolicyPart } from '../snapshot/policy-part.js'
import type { RevisionSources } from '../revisions/kept-revisions.js'
import { readParts } from './read-parts.js'
import type { PolicyLocations, ReadOptions } from './part-source.js'
import { describeStored } from './describe-stored.js'
import { locationNames } from './location-names.js'
import type { StoredPolicies } from '../writing/stored-policies.js'
import { composeEntrypoints } from '../snapshot/composed-documents.js'
import { groupByPath } from '../snapshot/snapshot.js'
import type { Entrypoint, Snapshot, SourceText } from '../snapshot/snapshot.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import { dataOf } from '../wasm/data/data-image.js'
import type { RegoObject } from '../values/value.js'
import type { DataImage } from '../wasm/data/data-image.js'
import { compileModule, lowestBase, estimatedBase } from '../wasm/module-code.js'
import type { ModuleCode } from '../wasm/module-code.js'
import { PolicyModule } from '../wasm/policy-module.js'

export type { DownloadedBundle, PolicyLocations } from './part-source.js'

export interface LoadOptions extends ReadOptions {
  readonly builtins: Builtins
  /** Built-ins that policies may not call, with advice. */
  readonly refusedBuiltins?: Readonly<Record<string, string>> | undefined
  /** True to report such calls as warnings, for policies that do not serve. */
  readonly warnsOfRefusedBuiltins?: boolean
  /** Loads base documents of data files in another thread; in this one by default. */
  readonly loadData?: (...what: Parameters<typeof loadData>) => Promise<LoadedData>
  /** Compiles the bytes of a module in another thread; in this one by default. */
  readonly compileModule?: typeof compileModule
  /** Receives the sources of a load, before the result is known to be usable. */
  readonly keepSources?: (sources: RevisionSources) => void
  readonly limits: EvaluationLimits
  /** See `PolicyModuleOptions`. */
  readonly isTrial?: boolean
  /** The analysis of mistakes that compile; none by default. */
  readonly analysis?: PartAnalysisOptions
  /**
   * True to show full paths in evaluation errors. Callers of the service get paths below the roots.
   */
  readonly showsWholePaths?: boolean
}

/**
 * Compiles and loads policies and data into an immutable snapshot. Raises `invalid` with every
 * problem: Rego that does not compile, a damaged bundle, duplicate data, a missing built-in.
 */
export async function loadSnapshot(locations: PolicyLocations, options: LoadOptions): Promise<Snapshot> {
  const turns = new ShortTurns()
  const { parts, codes, image, stored } = await loadParts(locations, options, turns)
  const data = dataOf(image)
  const loaded = new Map(
    await Promise.all(
      [...codes].map(
        async ([part, own]) => [part, await loadModule(part, own, image, options, turns)] as const,
      ),
    ),
  )
  const entrypoints = [...loaded.values()].flat()
  await turns.pause()
  refuseDataOverEntrypoints(parts, entrypoints)
  await turns.pause()
  const { analysis } = options
  const entrypointsOf = (part: PolicyPart): readonly Entrypoint[] => loaded.get(part) ?? []
  const evaluated = analysis === undefined ? undefined : new EvaluatedPackages(analysis.staticPackages)
  const answered = checkEntrypoints(parts, entrypointsOf, evaluated)
  await turns.pause()
  const packagePaths = [...parts.flatMap(({ packages }) => packages), ...answered.guessedPackages]
  const packages = [...new Set(packagePaths.map(pathKey))].sort()
  await turns.pause()
  const declared = await readDeclaredLevels(
    parts.flatMap(({ modules }) => modules),
    packages,
  )
  const warnings = [
    ...answered.warnings,
    ...(await analyse(parts, data, options, entrypointsOf)),
    ...declared.warnings,
  ]
  await turns.pause()
  const names = locationNames(locations)
  const show = options.showsWholePaths === true ? (file: string) => file : names.file
  const grouped = groupByPath(entrypoints)
  await turns.pause()
  return {
    revision: locations.revision ?? revisionOf(parts),
    sources: describeSources(parts, names.root),
    ...(stored !== undefined && { stored }),
    ...(options.isPublished === true && { publishable: publishableOf(parts, names.file) }),
    entrypoints: grouped,
    packages,
    unanswered: answered.unanswered,
    baseDenials: findBaseDenials(packages, data),
    declaredLevels: declared.levels,
    data,
    image,
    warnings: withSourceColumns(
      warnings,
      parts.flatMap(({ rego }) => rego),
    ),
    ...regoOf(parts, show, names.root),
    locateSource: indexSources(parts, show),
    sourcesOf: (key) => sourcesOfPackage(parts, show, key),
    locateBuiltin: indexCalls(parts, show),
  }
}

/** Returns the mistakes of policies that load. Raises as `analyseParts`. */
async function analyse(
  parts: readonly PolicyPart[],
  data: RegoObject,
  options: LoadOptions,
  entrypointsOf: (part: PolicyPart) => readonly Entrypoint[],
): Promise<ErrorDetail[]> {
  const { analysis } = options
  const pathsOf = (part: PolicyPart): (readonly string[])[] => entrypointsOf(part).map(({ path }) => path)
  const found = analysis === undefined ? [] : await analyseParts(parts, data, analysis, pathsOf)
  return [...found, ...parts.flatMap((part) => refusedBuiltinWarnings(part, entrypointsOf(part), options))]
}

function sourcesOfPackage(
  parts: readonly PolicyPart[],
  show: (file: string) => string,
  key: string,
): readonly SourceText[] {
  return parts
    .flatMap(({ modules }) => modules)
    .filter(({ packagePath }) => pathKey(packagePath) === key)
    .map(({ file, text }) => ({ file: show(file), text }))
}

function describeSources(
  parts: readonly PolicyPart[],
  nameOf: (root: string) => string,
): Snapshot['sources'] {
  return parts
    .flatMap((part) => part.sources)
    .map(({ paths, revision, signer }) => ({
      ...{ name: paths.map(nameOf).join(','), revision },
      ...(signer !== undefined && { signer }),
    }))
}

function revisionOf(parts: readonly PolicyPart[]): string {
  return parts.flatMap(({ sources }) => sources.map(({ revision }) => revision)).join('+')
}

/** The Rego of all parts without tests, and the names of parts without Rego. */
function regoOf(
  parts: readonly PolicyPart[],
  show: (file: string) => string,
  nameOf: (root: string) => string,
): Pick<Snapshot, 'rego' | 'withoutRego'> {
  const rego = parts.flatMap((part) => part.rego).filter(({ file }) => !isTestFile(file))
  const opaque = parts.filter((part) => part.compiled !== undefined && part.rego.length === 0)
  return {
    rego: rego.map((file) => ({ ...file, file: show(file.file) })),
    withoutRego: opaque.flatMap(({ sources }) => sources.flatMap(({ paths }) => paths.map(nameOf))),
  }
}

/** The compiled module of a part. */
interface PartCode extends PartModule {
  readonly code: ModuleCode
}

/** Reads the parts and returns them with the code of their modules and their merged data. */
async function loadParts(
  locations: PolicyLocations,
  options: LoadOptions,
  turns: ShortTurns,
): Promise<{
  parts: PolicyPart[]
  codes: Map<PolicyPart, PartCode>
  image: DataImage
  stored: StoredPolicies | undefined
}> {
  const sources = await readParts(locations, options)
  const files = sources.flatMap(({ dataFiles }) => dataFiles)
  const policyBytes = sources.reduce((sum, part) => sum + part.policyBytes, 0)
  const load = options.loadData ?? ((...what) => Promise.resolve(loadData(...what)))
  const loaded = await load(files, estimatedBase(policyBytes))
  const parts = await Promise.all(
    sources.map(({ toPart, dataFiles }) =>
      toPart(dataFiles.map((own) => partData(loaded, files.indexOf(own), own))),
    ),
  )
  await turns.pause()
  refuseSharedRoots(parts)
  const names = locationNames(locations)
  options.keepSources?.({
    revision: locations.revision ?? revisionOf(parts),
    isPinned: locations.revision !== undefined,
    data: files.flat(),
    ...regoOf(parts, names.file, names.root),
  })
  const { compileModule: compile = compileModule } = options
  const codes = new Map<PolicyPart, PartCode>()
  for (const part of parts)
    if (part.compiled !== undefined)
      codes.set(part, { ...part.compiled, code: await compile(part.compiled.wasm) })
  const base = Math.max(0, ...[...codes.values()].map(({ code }) => lowestBase(code)))
  const placed = base > loaded.image.base ? await load(files, base) : loaded
  const fileIds = sources.flatMap((source) => source.fileIds ?? [])
  const stored = options.written && describeStored(locations, parts, { ...placed, fileIds })
  return { parts, codes, image: placed.image, stored }
}

async function loadModule(
  part: PolicyPart,
  partCode: PartCode,
  data: DataImage,
  options: LoadOptions,
  turns: ShortTurns,
): Promise<Entrypoint[]> {
  const { builtins, limits, isTrial } = options
  await turns.pause()
  const module = await PolicyModule.load(partCode.code, { builtins: builtins.table, limits, data, isTrial })
  await turns.pause()
  refuseMissingBuiltins(part, module, options)
  await builtins.prepare(module.hostedBuiltins)
  const entrypoints = [...numbersByKey(part, partCode, module)].map(([key, number]): Entrypoint => ({
    path: pathOfKey(key),
    kind: part.kindOf(key),
    module,
    number,
  }))
  await turns.pause()
  const isComposed = module.entrypoints.has(KEEPING_ENTRYPOINT)
  const documents = isComposed ? composeEntrypoints(module, part.documentPaths, entrypoints) : []
  await turns.pause()
  const all = entrypoints.concat(documents)
  if (part.roots !== undefined) refuseEntrypointsOutsideRoots(part.name, part.roots, all)
  return all
}

/**
 * Returns the numbers of entrypoints by key, with the rules of the part. A rule is called directly
 * if possible.
 */
function numbersByKey(
  part: PolicyPart,
  { keyOf, isServed }: PartCode,
  { entrypoints, rules }: PolicyModule,
): Map<string, number> {
  const numbers = new Map<string, number>()
  for (const [name, number] of entrypoints) {
    const key = keyOf(name)
    if (!isServed(key) || (isGenerated(name) && key === name)) continue
    numbers.set(key, rules.get(key) ?? number)
  }
  for (const key of part.expectedEntrypoints) {
    const number = isServed(key) ? rules.get(key) : undefined
    if (number !== undefined) numbers.set(key, number)
  }
  return numbers
}

/** Raises `invalid` for missing built-ins, so that no request fails because of one. */
function refuseMissingBuiltins(
  part: PolicyPart,
  module: PolicyModule,
  { builtins, refusedBuiltins = {}, warnsOfRefusedBuiltins = false }: LoadOptions,
): void {
  const refused = warnsOfRefusedBuiltins ? {} : refusedBuiltins
  const missing = module.requiredBuiltins.filter(
    (name) => builtins.table[name] === undefined || refused[name] !== undefined,
  )
  if (missing.length === 0) return
  throw new AppError(
    'invalid',
    `the policies call built-in functions that are not available: ${missing.join(', ')}`,
    { details: withSourceColumns(builtinDetails(part, missing, refusedBuiltins), part.rego) },
  )
}

/** Returns a detail for each call of these built-ins. */
function builtinDetails(
  part: PolicyPart,
  names: readonly string[],
  advised: Readonly<Record<string, string>>,
): ErrorDetail[] {
  return names.flatMap((name) => {
    const advice = advised[name]
    const message = `built-in function ${name} is not available${advice === undefined ? '' : `: ${advice}`}`
    const calls = locateCalls(part.rego, name)
    return calls.length === 0
      ? [{ code: 'missing_builtin', message: `${message} (called in ${part.name})` }]
      : calls.map((location) => ({ code: 'missing_builtin', message, location }))
  })
}

/** Returns warnings about calls of refused built-ins in policies that load. */
function refusedBuiltinWarnings(
  part: PolicyPart,
  entrypoints: readonly Entrypoint[],
  { refusedBuiltins = {} }: LoadOptions,
): ErrorDetail[] {
  const called = new Set(entrypoints.flatMap(({ module }) => module.requiredBuiltins))
  const refused = [...called].filter((name) => refusedBuiltins[name] !== undefined)
  return builtinDetails(part, refused, refusedBuiltins)
}
