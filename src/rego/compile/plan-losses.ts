import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { unpackOne } from '../archive/pack-files.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOpa } from '../opa/run-opa.js'
import type { RuleNode } from '../values/rule-tree.js'
import { GENERATED_FILE, KEEPING_ENTRYPOINT, generateRules } from './generated-entrypoints.js'
import { BUNDLE_FILE, environmentFor, writeBundle } from './write-bundle.js'
import type { BundledFiles } from './write-bundle.js'
import { findLosses } from './plan/find-losses.js'
import type { Loss } from './plan/find-losses.js'
import { readPlan } from './plan/read-plan.js'

const PLAN_FILE = 'plan.json'

export interface PlannedFiles {
  readonly opa: OpaProgram
  /** Where archives are put. */
  readonly directory: string
  readonly files: BundledFiles
}

/** The expressions of some packages that OPA compiles to other code; undefined where it does not compile them. */
export async function planLosses(
  { opa, directory: cwd, files }: PlannedFiles,
  kept: readonly string[],
  rules: RuleNode,
): Promise<readonly Loss[] | undefined> {
  await writeBundle(cwd, [...files, [GENERATED_FILE, generateRules([], kept).text]])
  const output = 'planned.tar.gz'
  const args = ['build', '--target', 'plan', '--bundle', BUNDLE_FILE, '--output', output]
  const run = await runOpa(opa, [...args, '--entrypoint', KEEPING_ENTRYPOINT], {
    cwd,
    env: environmentFor(files),
  })
  if (run.exitCode !== 0) return undefined
  const plan = await unpackOne(await readFile(join(cwd, output)), PLAN_FILE)
  if (plan === undefined)
    throw new AppError('unavailable', `${opa.path} builds no plan: name another program`)
  return findLosses(readPlan(new TextDecoder().decode(plan)), rules)
}
