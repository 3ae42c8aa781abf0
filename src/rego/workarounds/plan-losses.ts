import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { unpackOne } from '../archive/pack-files.js'
import { GENERATED_FILE, KEEPING_ENTRYPOINT, generateRules } from '../modules/generated-entrypoints.js'
import { compileError } from '../modules/opa-errors.js'
import type { RegoModule } from '../modules/rego-module.js'
import { BUNDLE_FILE, environmentFor, writeBundle } from '../modules/stage-bundle.js'
import type { BundledFiles } from '../modules/stage-bundle.js'
import { capabilityFlags } from '../opa/capabilities.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { laterKeywords, opaRegoVersion } from '../opa/opa-release.js'
import { runOpa } from '../opa/run-opa.js'
import type { RuleNode } from '../values/rule-tree.js'
import { wrapLookups } from './negated-lookups.js'
import { findLosses, lossDetails } from './plan/find-losses.js'
import type { Loss } from './plan/find-losses.js'
import { readPlan } from './plan/read-plan.js'
import { splitLookups } from './skipped-rules.js'
import { ruleTree, suspectModules } from './suspect-modules.js'

const PLAN_FILE = 'plan.json'

export interface PlannedFiles {
  readonly opa: OpaProgram
  /** The directory for temporary archives. */
  readonly directory: string
  readonly files: BundledFiles
}

/**
 * Returns the expressions of some packages that OPA compiles wrongly; undefined if OPA does not
 * compile the packages.
 */
export async function planLosses(
  { opa, directory: cwd, files }: PlannedFiles,
  packages: readonly string[],
  rules: RuleNode,
): Promise<readonly Loss[] | undefined> {
  await writeBundle(cwd, [...files, [GENERATED_FILE, generateRules([], packages).text]])
  const output = 'planned.tar.gz'
  const args = ['build', '--target', 'plan', '--bundle', BUNDLE_FILE, '--output', output]
  const capabilities = await capabilityFlags(cwd, opa.capabilities)
  const run = await runOpa(opa, [...args, ...capabilities, '--entrypoint', KEEPING_ENTRYPOINT], {
    cwd,
    env: environmentFor(files),
  })
  if (run.exitCode !== 0) return undefined
  const plan = await unpackOne(await readFile(join(cwd, output)), PLAN_FILE)
  if (plan === undefined)
    throw new AppError(
      'unavailable',
      `${opa.path} builds no plan. Name another program with --opa or OPA_BIN`,
    )
  return findLosses(readPlan(new TextDecoder().decode(plan)), rules)
}

export interface LossCheck extends PlannedFiles {
  readonly modules: readonly RegoModule[]
  /** Returns the keys of the packages to compile that some modules are in. */
  readonly packagesOf: (modules: readonly RegoModule[]) => readonly string[]
  /** Returns the files of a bundle with rewritten modules. */
  readonly filesOf: (modules: readonly RegoModule[]) => BundledFiles
  readonly toSource: (compiledName: string) => string
  /** Raises the compiler's own errors, if it has any. */
  readonly refuseMistakes: () => Promise<void>
}

/**
 * Returns `files`, or the first rewritten files, that OPA compiles to code with the results of its
 * evaluator. Raises `invalid` for each expression without such a form, and `unavailable` if OPA
 * compiles the policies and cannot plan them, because the code cannot be checked then.
 */
export async function withoutLosses(written: LossCheck): Promise<BundledFiles> {
  const { opa, modules, files, packagesOf } = written
  const rules = ruleTree(modules)
  const suspects = suspectModules(modules)
  if (suspects.length === 0) return files
  // OPA plans functions with the rules that call them.
  const hasFunctions = suspects.some((module) => module.rules.some(({ isFunction }) => isFunction))
  const packages = packagesOf(hasFunctions ? modules : suspects)
  const losses = await planLosses(written, packages, rules)
  if (losses === undefined) {
    await written.refuseMistakes()
    throw new AppError(
      'unavailable',
      `${opa.path} (from ${opa.source}) compiles the policies but cannot plan them. Name another program with --opa or OPA_BIN`,
    )
  }
  if (losses.length === 0) return files
  let fewest = losses
  for (const rewritten of await rewriteLookups(modules, opa)) {
    const candidate = written.filesOf(rewritten)
    const left = await planLosses({ ...written, files: candidate }, packages, rules)
    if (left?.length === 0) return candidate
    if (left !== undefined && left.length < fewest.length) fewest = left
  }
  throw compileError(lossDetails(fewest, written.toSource))
}

/** Returns rewritten modules that OPA may compile correctly, the most rewritten first. */
async function rewriteLookups(
  modules: readonly RegoModule[],
  opa: OpaProgram,
): Promise<(readonly RegoModule[])[]> {
  const isOlder = (await opaRegoVersion(opa)) === 0
  const wrapped = await wrapLookups(modules, await laterKeywords(opa))
  const [both, split] = [await splitLookups(wrapped, isOlder), await splitLookups(modules, isOlder)]
  return [...new Set([both, wrapped, split])].filter((rewritten) => rewritten !== modules)
}
