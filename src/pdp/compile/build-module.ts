import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import { MODULE_FILE } from '../archive/manifest.js'
import { unpackBundle } from '../archive/unpack-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOpa } from '../opa/run-opa.js'
import type { OpaRun } from '../opa/run-opa.js'
import { integerSegment } from '../rego/data-path.js'
import { pathOfKey } from '../rego/path-key.js'
import { RegoObject } from '../rego/value.js'
import { compileError, readOpaErrors } from './opa-errors.js'
import type { RegoModule } from './rego-module.js'
import { sourceFiles, stageBundle } from './stage-bundle.js'

/** A compiled module and what its entrypoints answer. */
export interface BuiltModule {
  readonly wasm: Uint8Array
  /** The key of the path of `data` by the name of the entrypoint. */
  readonly paths: ReadonlyMap<string, string>
}

/** Code does not depend on data, and what stands in the way of rules has been looked for. */
const NO_DATA = new RegoObject([])
const FORWARDING_PACKAGE = 'tidegate_entrypoints'
const FORWARDING_FILE = 'entrypoints.rego'

/**
 * Compiles modules to WASM with the path of every key as an entrypoint. A path that `opa build` has no spelling for gets
 * a generated rule that refers to it. OPA 0.70 refuses a path as an entrypoint when functions below it call each other,
 * though it compiles a rule that refers to the same path: then each path gets such a rule. Raises `invalid` with file,
 * row, column and OPA's message for each problem in the policies.
 */
export async function buildModule(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  keys: readonly string[],
): Promise<BuiltModule> {
  return await inTemporaryDirectory(async (directory) => {
    const bundle = join(directory, 'bundle')
    await stageBundle(bundle, modules, NO_DATA)
    const unspellable = keys.filter((key) => !isSpellable(key))
    const direct = keys
      // The root document would hold the generated rules.
      .filter((key) => isSpellable(key) && (key !== '' || unspellable.length === 0))
      .map((key) => [pathOfKey(key).join('/'), key] as const)
    const first = await build(opa, bundle, direct, unspellable)
    if (typeof first.outcome !== 'string') return { wasm: first.outcome, paths: first.paths }
    // `opa check` finds the policies' own problems and tells them with columns.
    await rm(join(bundle, FORWARDING_FILE), { force: true })
    const check = await runOpa(opa, ['check', '--format', 'json', '--bundle', '.'], { cwd: bundle })
    if (check.exitCode !== 0) throw compileError(readOpaErrors(check, sourceFiles(modules)))

    const second = await build(opa, bundle, [], keys)
    if (typeof second.outcome !== 'string') return { wasm: second.outcome, paths: second.paths }
    throw compileError(readOpaErrors(first.run, sourceFiles(modules)))
  })
}

interface Build {
  readonly run: OpaRun
  readonly outcome: Uint8Array | 'refused'
  readonly paths: ReadonlyMap<string, string>
}

async function build(
  opa: OpaProgram,
  cwd: string,
  direct: readonly (readonly [name: string, key: string])[],
  forwarded: readonly string[],
): Promise<Build> {
  const forwarding = forwardingRules(forwarded)
  if (forwarding.paths.size > 0) await writeFile(join(cwd, FORWARDING_FILE), forwarding.text)
  const paths = new Map([...direct, ...forwarding.paths])
  const output = join(cwd, '..', 'built.tar.gz')
  const targets = [...paths.keys()].flatMap((name) => ['--entrypoint', name])
  const run = await runOpa(
    opa,
    ['build', '--target', 'wasm', '--bundle', '.', '--output', output, ...targets],
    { cwd },
  )
  const built = run.exitCode === 0 ? await unpackBundle('built', await readFile(output)) : undefined
  return { run, outcome: built?.get(MODULE_FILE) ?? 'refused', paths }
}

/** One rule per path. The root cannot be referred to from inside; it is put together from what is below it. */
function forwardingRules(keys: readonly string[]): { text: string; paths: Map<string, string> } {
  const forwarded = keys.filter((key) => key !== '')
  const rules = forwarded.map((key, index) => `p${index} = ${reference(key)} { true }`)
  return {
    text: [`package ${FORWARDING_PACKAGE}`, ...rules, ''].join('\n'),
    paths: new Map(forwarded.map((key, index) => [`${FORWARDING_PACKAGE}/p${index}`, key])),
  }
}

function reference(key: string): string {
  return ['data', ...pathOfKey(key).map((segment) => `[${JSON.stringify(segment)}]`)].join('')
}

/**
 * Whether `opa build --entrypoint` can name a path: it splits at slashes, takes digits for a number, passes over empty
 * segments at the ends, and no program can be given a NUL.
 */
function isSpellable(key: string): boolean {
  return pathOfKey(key).every(
    (segment) => segment !== '' && !/[/\0]/.test(segment) && integerSegment(segment) === undefined,
  )
}
