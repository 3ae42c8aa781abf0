import { join } from 'node:path'

import { asVersion1, parseModules } from '../modules/parse-modules.js'
import type { RegoFile, RegoModule } from '../modules/rego-module.js'
import { sourceFiles, stageBundle } from '../modules/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRegoVersion } from '../opa/opa-release.js'
import type { RegoVersion } from '../opa/opa-release.js'
import type { RegoObject } from '../values/value.js'

/** Rego staged for `opa test --bundle`, and the mapping to source files. */
export interface StagedTests {
  readonly opa: OpaProgram
  readonly modules: readonly RegoModule[]
  readonly directory: string
  /**
   * Copy of the directory without a manifest and in one Rego version. For bundles, OPA only reports
   * covered lines.
   */
  readonly plainDirectory: string
  readonly plainVersion: RegoVersion
  readonly sourceFile: (stagedName: string) => string
  /** Timeout of a run of all tests, in milliseconds. */
  readonly limitMs: number
}

/** Policies with their tests. */
export interface TestedPolicies {
  readonly rego: readonly RegoFile[]
  readonly data: RegoObject
}

const IMPORT = /^\s*import\s+rego\.v1\s*$/m

/**
 * Writes policies with their tests to a temporary directory. Raises `invalid` with every problem of
 * the syntax.
 */
export async function stageTests(
  opa: OpaProgram,
  { rego, data }: TestedPolicies,
  temporary: string,
  limitMs: number,
): Promise<StagedTests> {
  const modules = await parseModules(opa, rego)
  const plainVersion = await commonVersion(opa, modules)
  const staged = {
    ...{ opa, modules, plainVersion, limitMs },
    directory: join(temporary, 'bundle'),
    plainDirectory: join(temporary, 'plain'),
    sourceFile: sourceFiles(modules),
  }
  await stageBundle(staged.directory, modules, data)
  const plain = plainVersion === 1 ? modules : modules.map(asVersion0)
  await stageBundle(staged.plainDirectory, plain, data)
  return staged
}

/**
 * Returns the Rego version that all modules can be converted to: the version of opa if all are
 * version 1, otherwise 0.
 */
async function commonVersion(opa: OpaProgram, modules: readonly RegoModule[]): Promise<RegoVersion> {
  const areNew = modules.every(({ version, text }) => version === 1 || IMPORT.test(text))
  return areNew ? await opaRegoVersion(opa) : 0
}

function asVersion0(module: RegoModule): RegoModule {
  const isVersion0 = module.version === 0 || IMPORT.test(module.text)
  return isVersion0 ? module : { ...module, ...asVersion1(module), version: 0 }
}
