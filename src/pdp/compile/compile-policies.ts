import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import { readBundle } from '../bundle/read-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOpa } from '../opa/run-opa.js'
import type { RegoObject } from '../rego/value.js'
import { collectSources } from './collect-sources.js'
import type { CollectOptions, PolicySources, RegoFile } from './collect-sources.js'
import { mergeData } from './merge-data.js'
import { compileError, readOpaErrors } from './opa-errors.js'
import { parseDataFile } from './parse-data.js'
import { parseModules } from './parse-modules.js'
import { listEntrypoints } from './rego-module.js'
import type { EntrypointKind, RegoModule } from './rego-module.js'
import { sourceFiles, stageBundle } from './stage-bundle.js'

/** Rego directories as one WASM module with their data, ready to load. */
export interface CompiledPolicies {
  /** Absent when there is data only. */
  readonly wasm: Uint8Array | undefined
  readonly data: RegoObject
  /** A digest of all sources: the same sources always have the same revision. */
  readonly revision: string
  readonly entrypoints: ReadonlyMap<string, EntrypointKind>
  /** Package paths below `data`, empty packages included. */
  readonly packages: readonly (readonly string[])[]
  readonly modules: readonly RegoModule[]
  /** The source file behind a name that the module uses in its errors. */
  readonly sourceFile: (compiledName: string) => string
}

/**
 * Compiles Rego directories, version 0 and 1 mixed, to one WASM module in which every package and every rule is an
 * entrypoint. Raises `invalid` with file, row, column and OPA's message for each problem, `unavailable` when the `opa`
 * program cannot run.
 */
export async function compilePolicies(
  opa: OpaProgram,
  paths: readonly string[],
  options: CollectOptions = { includeTests: false },
): Promise<CompiledPolicies> {
  const sources = await collectSources(paths, options)
  const modules = await parseModules(opa, sources.rego)
  const data = mergeData(
    sources.data.map(({ file, at, text }) => ({ file, at, value: parseDataFile(file, text) })),
  )
  const entrypoints = listEntrypoints(modules)
  return {
    wasm: modules.length === 0 ? undefined : await buildModule(opa, modules, data, entrypoints),
    data,
    revision: digestSources(sources),
    entrypoints,
    packages: modules.map(({ packagePath }) => packagePath),
    modules,
    sourceFile: sourceFiles(modules),
  }
}

async function buildModule(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  data: RegoObject,
  entrypoints: ReadonlyMap<string, EntrypointKind>,
): Promise<Uint8Array | undefined> {
  return await inTemporaryDirectory(async (directory) => {
    const cwd = join(directory, 'bundle')
    const output = join(directory, 'built.tar.gz')
    await stageBundle(cwd, modules, data)
    const targets = [...entrypoints.keys()].flatMap((entrypoint) => ['--entrypoint', entrypoint])
    const args = ['build', '--target', 'wasm', '--bundle', '.', '--output', output, ...targets]
    const build = await runOpa(opa, args, { cwd })
    if (build.exitCode === 0) return (await readBundle(output, await readFile(output))).wasm
    // `opa check` finds the same problems and tells them with columns; what only the build finds has no column.
    const check = await runOpa(opa, ['check', '--format', 'json', '--bundle', '.'], { cwd })
    throw compileError(readOpaErrors(check.exitCode === 0 ? build : check, sourceFiles(modules)))
  })
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
