import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'
import { inSlices } from '../../lib/turns/in-slices.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { readData } from '../data/base-document.js'
import type { BaseDocument, PartData } from '../data/base-document.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { RegoObject } from '../rego/value.js'
import { MOST_ENTRYPOINTS, buildModule } from './build-module.js'
import type { BuildOptions } from './build-module.js'
import { collectSources } from './collect-sources.js'
import type { CollectOptions, LeftOutFiles, PolicySources, RegoFile } from './collect-sources.js'
import { UNREAD_RULES, confirmModules, readModules } from './read-modules.js'
import { askedDocuments, listEntrypoints } from './rego-module.js'
import type { EntrypointKind, RegoModule } from './rego-module.js'
import { refuseDataOverRules } from './refuse-data-over-rules.js'
import { refuseMergedRules } from './refuse-merged-rules.js'
import { sourceNames } from './stage-bundle.js'

/** Rego directories as one WASM module with their data, ready to load. */
export interface CompiledPolicies {
  /** Absent where there are no rules. */
  readonly wasm: Uint8Array | undefined
  /** The key of the path of `data` that an entrypoint of the module answers, by the entrypoint's name. */
  readonly paths: ReadonlyMap<string, string>
  /** What has been compiled beside that module, since rules of it have changed. */
  readonly newer?: NewerModules | undefined
  readonly data: RegoObject
  /** The documents that the data is merged from. */
  readonly documents: readonly BaseDocument[]
  /** A digest of all sources: the same sources always have the same revision. */
  readonly revision: string
  readonly entrypoints: ReadonlyMap<string, EntrypointKind>
  /** Package paths below `data`, empty packages included, and those of documents that state a verdict like a package. */
  readonly packages: readonly (readonly string[])[]
  readonly modules: readonly RegoModule[]
  readonly leftOut: LeftOutFiles
  /** The source files by the names that the module uses in its errors. */
  readonly sourceNames: ReadonlyMap<string, string>
}

/** Modules of the rules that have changed since all were compiled, and of what these need. */
export interface NewerModules {
  /** None where no rules are left of these. */
  readonly modules: readonly NewerModule[]
  /** The keys of the rules that the module before them is not asked for any more. */
  readonly replaced: ReadonlySet<string>
}

export interface NewerModule {
  readonly wasm: Uint8Array
  readonly paths: ReadonlyMap<string, string>
  /** The keys of the rules that it is asked for. */
  readonly rules: ReadonlySet<string>
}

/** What modules were built to. */
export type BuiltModules = Pick<CompiledPolicies, 'wasm' | 'paths' | 'newer' | 'sourceNames'>

export interface CompileOptions extends Partial<BuildOptions> {
  /** What a source file is called in the revision, and in the errors of what is compiled; its path when absent. */
  readonly nameFile?: (file: string) => string
}

/** The steps of compiling, which may know what has been compiled before. */
export interface Compiler {
  readonly parse: (opa: OpaProgram, files: readonly RegoFile[]) => Promise<RegoModule[]>
  readonly build: (
    opa: OpaProgram,
    modules: readonly RegoModule[],
    keys: ReadonlyMap<string, EntrypointKind>,
    options: BuildOptions,
  ) => Promise<BuiltModules>
}

/** Compiles everything each time. */
export function wholeCompiler(build = buildModule): Compiler {
  return {
    parse: readModules,
    build: async (opa, modules, keys, options) => {
      // OPA builds no module of packages that hold nothing.
      const isEmpty = keys.size === 1
      const built = isEmpty ? undefined : await build(opa, modules, keys, options)
      return { wasm: built?.wasm, paths: built?.paths ?? new Map(), sourceNames: sourceNames(modules) }
    },
  }
}

const WHOLE_COMPILER = wholeCompiler()

/**
 * Compiles Rego directories, version 0 and 1 mixed, to one WASM module in which every package and every rule is an
 * entrypoint. Raises `invalid` with file, row, column and OPA's message for each problem, data over a rule among them, `unavailable` when the `opa`
 * program cannot run.
 */
export async function compilePolicies(
  opa: OpaProgram,
  paths: readonly string[],
  options: CollectOptions & CompileOptions = { includeTests: false },
): Promise<CompiledPolicies> {
  const sources = await collectSources(paths, options)
  return await compileSources(opa, sources, readData(sources.data), options)
}

/** The same of sources that have been read, with their data. */
export async function compileSources(
  opa: OpaProgram,
  sources: PolicySources,
  data: PartData,
  options: CompileOptions = {},
  compiler: Compiler = WHOLE_COMPILER,
): Promise<CompiledPolicies> {
  const modules = await compiler.parse(opa, sources.rego)
  try {
    return await compileModules(opa, modules, sources, data, options, compiler)
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
    // OPA's parser tells of all files what the compiler tells of the first.
    const confirmed = await confirmModules(opa, modules)
    if (raw.code !== UNREAD_RULES && confirmed.every((module, place) => module === modules[place])) throw raw
    return await compileModules(opa, confirmed, sources, data, options, compiler)
  }
}

async function compileModules(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  sources: PolicySources,
  { data, documents, imageBytes }: PartData,
  { mostEntrypoints = MOST_ENTRYPOINTS, includesPrint, nameFile = (file) => file }: CompileOptions,
  { build }: Compiler,
): Promise<CompiledPolicies> {
  const turns = new ShortTurns()
  await refuseDataOverRules(opa, modules, documents)
  await refuseMergedRules(opa, modules)
  const entrypoints = listEntrypoints(modules)
  await turns.pause()
  const options = { mostEntrypoints, includesPrint, dataBytes: imageBytes }
  const [built, revision] = await Promise.all([
    build(opa, modules, entrypoints, options),
    digestSources(sources, nameFile, turns),
  ])
  await turns.pause()
  const packages = askedDocuments(modules)
  return {
    ...built,
    sourceNames: new Map([...built.sourceNames].map(([name, file]) => [name, nameFile(file)])),
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
