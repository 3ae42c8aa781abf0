import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import { inSlices } from '../../lib/turns/in-slices.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { readData } from '../data/base-document.js'
import type { BaseDocument, PartData } from '../data/base-document.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { RegoObject } from '../values/value.js'
import { MAX_ENTRYPOINTS, buildModule } from './build-module.js'
import type { BuildModule, BuildOptions } from './build-module.js'
import { collectSources } from './collect-sources.js'
import type { CollectOptions, LeftOutFiles, PolicySources } from './collect-sources.js'
import { UNREAD_RULES, confirmModules, readModules } from '../modules/read-modules.js'
import { evaluatedDocuments, listEntrypoints } from '../modules/rego-module.js'
import type { EntrypointKind, RegoModule } from '../modules/rego-module.js'
import { refuseDataOverRules } from './refuse-data-over-rules.js'
import { refuseMergedRules } from '../workarounds/merged-rules.js'
import { errorWithSourceColumns } from '../modules/source-columns.js'
import { sourceNames } from '../modules/stage-bundle.js'

/** Rego directories as one WASM module with their data, ready to load. */
export interface CompiledPolicies {
  /** Absent without rules. */
  readonly wasm: Uint8Array | undefined
  /** The key of the path that each entrypoint answers, by the entrypoint's name. */
  readonly paths: ReadonlyMap<string, string>
  readonly data: RegoObject
  /** The documents merged into the data. */
  readonly documents: readonly BaseDocument[]
  /** A digest of all sources. */
  readonly revision: string
  readonly entrypoints: ReadonlyMap<string, EntrypointKind>
  /** Package paths below `data`, including empty packages and documents with verdict rules. */
  readonly packages: readonly (readonly string[])[]
  readonly modules: readonly RegoModule[]
  readonly leftOut: LeftOutFiles
  /** The source files by their names in the module's errors. */
  readonly sourceNames: ReadonlyMap<string, string>
}

export interface CompileOptions extends Partial<BuildOptions> {
  /** Returns the name of a source file in error locations; the path by default. */
  readonly nameFile?: (file: string) => string
  /** Returns the name of a source file in the revision; as in error locations by default. */
  readonly nameInRevision?: (file: string) => string
}

/**
 * Compiles Rego directories of both versions to one WASM module in which every package and every
 * rule is an entrypoint. Raises `invalid` with file, line, column and OPA's message for each
 * problem, including data over a rule, and `unavailable` if the `opa` program fails.
 */
export async function compilePolicies(
  opa: OpaProgram,
  paths: readonly string[],
  options: CollectOptions & CompileOptions = { includeTests: false },
): Promise<CompiledPolicies> {
  const sources = await collectSources(paths, options)
  return await compileSources(opa, sources, readData(sources.data), options)
}

/** Compiles sources and data that have been read. Raises as `compilePolicies`. */
export async function compileSources(
  opa: OpaProgram,
  sources: PolicySources,
  data: PartData,
  options: CompileOptions = {},
  build: BuildModule = buildModule,
): Promise<CompiledPolicies> {
  try {
    return await compileSpelled(opa, sources, data, options, build)
  } catch (raw) {
    throw errorWithSourceColumns(raw, sources.rego)
  }
}

async function compileSpelled(
  opa: OpaProgram,
  sources: PolicySources,
  data: PartData,
  options: CompileOptions,
  build: BuildModule,
): Promise<CompiledPolicies> {
  const modules = await readModules(opa, sources.rego)
  try {
    return await compileModules(opa, modules, sources, data, options, build)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
    // OPA's compiler stops at the first file with an error; its parser reports all files.
    const confirmed = await confirmModules(opa, modules)
    if (raw.code !== UNREAD_RULES && confirmed.every((module, place) => module === modules[place])) throw raw
    return await compileModules(opa, confirmed, sources, data, options, build)
  }
}

async function compileModules(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  sources: PolicySources,
  { data, documents }: PartData,
  {
    maxEntrypoints = MAX_ENTRYPOINTS,
    includesPrint,
    nameFile = (file) => file,
    nameInRevision = nameFile,
  }: CompileOptions,
  build: BuildModule,
): Promise<CompiledPolicies> {
  const turns = new ShortTurns()
  await refuseDataOverRules(opa, modules, documents)
  await refuseMergedRules(opa, modules)
  const entrypoints = listEntrypoints(modules)
  await turns.pause()
  // OPA builds no module for packages without rules.
  const isEmpty = entrypoints.size === 1
  const [built, revision] = await Promise.all([
    isEmpty ? undefined : build(opa, modules, entrypoints, { maxEntrypoints, includesPrint }),
    digestSources(sources, nameInRevision, turns),
  ])
  await turns.pause()
  const packages = evaluatedDocuments(modules)
  return {
    wasm: built?.wasm,
    paths: built?.paths ?? new Map(),
    sourceNames: new Map([...sourceNames(modules)].map(([name, file]) => [name, nameFile(file)])),
    data,
    documents,
    revision,
    entrypoints,
    packages,
    modules,
    leftOut: sources.leftOut,
  }
}

async function digestSources(
  sources: PolicySources,
  nameFile: (file: string) => string,
  turns: ShortTurns,
): Promise<string> {
  const hash = createHash('sha256')
  const begin = (file: string, length: number): Hash => hash.update(`${nameFile(file)}\0${length}\0`)
  for (const { file, text } of sources.rego) {
    begin(file, text.length).update(text).update('\0')
    await turns.pause()
  }
  for (const { file, content } of sources.data) {
    begin(file, content.length)
    await inSlices(content.length, (start, end) => hash.update(content.subarray(start, end)))
    hash.update('\0')
  }
  return `sha256:${hash.digest('hex').slice(0, 16)}`
}
