import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import { readBundle } from '../bundle/read-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOpa } from '../opa/run-opa.js'
import type { OpaRun } from '../opa/run-opa.js'
import type { RegoObject } from '../rego/value.js'
import { compileError, readOpaErrors } from './opa-errors.js'
import type { RegoModule } from './rego-module.js'
import { sourceFiles, stageBundle } from './stage-bundle.js'

/** A compiled module and what its entrypoints answer. */
export interface BuiltModule {
  readonly wasm: Uint8Array
  /** The path of `data` by the name of the entrypoint. */
  readonly paths: ReadonlyMap<string, string>
}

const FORWARDING_PACKAGE = 'tidegate_entrypoints'
const FORWARDING_FILE = 'entrypoints.rego'

/**
 * Compiles modules to WASM with every path as an entrypoint. OPA 0.70 refuses a path as an entrypoint when functions
 * below it call each other, though it compiles a rule that refers to the same path: then each path gets such a rule.
 * Raises `invalid` with file, row, column and OPA's message for each problem in the policies.
 */
export async function buildModule(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  data: RegoObject,
  paths: readonly string[],
): Promise<BuiltModule> {
  return await inTemporaryDirectory(async (directory) => {
    const bundle = join(directory, 'bundle')
    await stageBundle(bundle, modules, data)
    const direct = new Map(paths.map((path) => [path, path]))
    const first = await build(opa, bundle, direct)
    if (typeof first.outcome !== 'string') return { wasm: first.outcome, paths: direct }
    // `opa check` finds the policies' own problems and tells them with columns.
    const check = await runOpa(opa, ['check', '--format', 'json', '--bundle', '.'], { cwd: bundle })
    if (check.exitCode !== 0) throw compileError(readOpaErrors(check, sourceFiles(modules)))

    const forwarding = forwardingRules(paths)
    await writeFile(join(bundle, FORWARDING_FILE), forwarding.text)
    const second = await build(opa, bundle, forwarding.paths)
    if (typeof second.outcome !== 'string') return { wasm: second.outcome, paths: forwarding.paths }
    throw compileError(readOpaErrors(first.run, sourceFiles(modules)))
  })
}

interface Build {
  readonly run: OpaRun
  readonly outcome: Uint8Array | 'refused'
}

async function build(opa: OpaProgram, cwd: string, entrypoints: ReadonlyMap<string, string>): Promise<Build> {
  const output = join(cwd, '..', 'built.tar.gz')
  const targets = [...entrypoints.keys()].flatMap((name) => ['--entrypoint', name])
  const run = await runOpa(
    opa,
    ['build', '--target', 'wasm', '--bundle', '.', '--output', output, ...targets],
    { cwd },
  )
  const built = run.exitCode === 0 ? await readBundle('built', await readFile(output)) : undefined
  return { run, outcome: built?.wasm ?? 'refused' }
}

/** One rule per path. The root cannot be referred to from inside; it is put together from what is below it. */
function forwardingRules(paths: readonly string[]): { text: string; paths: Map<string, string> } {
  const forwarded = paths.filter((path) => path !== '')
  const rules = forwarded.map((path, index) => `p${index} = ${reference(path)} { true }`)
  return {
    text: [`package ${FORWARDING_PACKAGE}`, ...rules, ''].join('\n'),
    paths: new Map(forwarded.map((path, index) => [`${FORWARDING_PACKAGE}/p${index}`, path])),
  }
}

function reference(path: string): string {
  return ['data', ...path.split('/').map((segment) => `[${JSON.stringify(segment)}]`)].join('')
}
