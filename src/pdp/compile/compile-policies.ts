import { createHash } from 'node:crypto'

import type { OpaProgram } from '../opa/find-opa.js'
import type { RegoObject } from '../rego/value.js'
import { buildModule } from './build-module.js'
import { collectSources } from './collect-sources.js'
import type { CollectOptions, PolicySources, RegoFile } from './collect-sources.js'
import { mergeData } from './merge-data.js'
import type { BaseDocument } from './merge-data.js'
import { parseDataFile } from './parse-data.js'
import { parseModules } from './parse-modules.js'
import { listEntrypoints } from './rego-module.js'
import type { EntrypointKind, RegoModule } from './rego-module.js'
import { refuseDataOverRules } from './refuse-data-over-rules.js'
import { sourceNames } from './stage-bundle.js'

/** Rego directories as one WASM module with their data, ready to load. */
export interface CompiledPolicies {
  /** Absent where there are no rules. */
  readonly wasm: Uint8Array | undefined
  /** The key of the path of `data` that an entrypoint of the module answers, by the entrypoint's name. */
  readonly paths: ReadonlyMap<string, string>
  readonly data: RegoObject
  /** The documents that the data is merged from. */
  readonly documents: readonly BaseDocument[]
  /** A digest of all sources: the same sources always have the same revision. */
  readonly revision: string
  readonly entrypoints: ReadonlyMap<string, EntrypointKind>
  /** Package paths below `data`, empty packages included. */
  readonly packages: readonly (readonly string[])[]
  readonly modules: readonly RegoModule[]
  /** The source files by the names that the module uses in its errors. */
  readonly sourceNames: ReadonlyMap<string, string>
}

/**
 * Compiles Rego directories, version 0 and 1 mixed, to one WASM module in which every package and every rule is an
 * entrypoint. Raises `invalid` with file, row, column and OPA's message for each problem, data over a rule among them, `unavailable` when the `opa`
 * program cannot run.
 */
export async function compilePolicies(
  opa: OpaProgram,
  paths: readonly string[],
  options: CollectOptions = { includeTests: false },
): Promise<CompiledPolicies> {
  const sources = await collectSources(paths, options)
  const modules = await parseModules(opa, sources.rego)
  const documents = sources.data.map(({ file, at, text }) => ({ file, at, value: parseDataFile(file, text) }))
  const data = mergeData(documents)
  await refuseDataOverRules(opa, modules, documents)
  const entrypoints = listEntrypoints(modules)
  // OPA builds no module of packages that hold nothing.
  const isEmpty = entrypoints.size === 1
  const built = isEmpty ? undefined : await buildModule(opa, modules, data, [...entrypoints.keys()])
  return {
    wasm: built?.wasm,
    paths: built?.paths ?? new Map(),
    data,
    documents,
    revision: digestSources(sources),
    entrypoints,
    packages: modules.map(({ packagePath }) => packagePath),
    modules,
    sourceNames: sourceNames(modules),
  }
}

function digestSources(sources: PolicySources): string {
  const hash = createHash('sha256')
  const add = ({ file, text }: RegoFile): void => {
    hash.update(`${file}\0${text.length}\0${text}\0`)
  }
  sources.rego.forEach(add)
  sources.data.forEach(add)
  return `sha256:${hash.digest('hex').slice(0, 16)}`
}
