import { dirname, relative, resolve } from 'node:path'

import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import {
  RegoObject,
  collectSources,
  compileError,
  listSourceTree,
  parseModules,
  readOpaErrors,
  runOffline,
  sourceFiles,
  stageBundle,
  withNearNames,
  withTypes,
  type LoadOptions,
} from '../../rego/index.js'
import { isConfiguration, isDefinitionFile } from './find-definitions.js'

export interface PolicyCheckOptions {
  /** True if probable mistakes are errors, as for `opa check --strict`. */
  readonly strict?: boolean | undefined
}

/** OPA stops after ten errors by default. */
const MAX_ERRORS = '10000'

/**
 * Returns whether all paths are Rego or directories of Rego without JSON and YAML other than data.
 * With `acceptsJson`, any Rego is enough.
 */
export async function arePolicies(paths: readonly string[], acceptsJson = false): Promise<boolean> {
  const answers = await Promise.all(paths.map(async (path) => await holdsPolicies(path, acceptsJson)))
  return answers.length > 0 && answers.every((isRego) => isRego)
}

async function holdsPolicies(path: string, acceptsJson: boolean): Promise<boolean> {
  // Reading the path later reports the error.
  const tree = await listSourceTree(path).catch(() => undefined)
  if (tree === undefined) return false
  const { sources, passedOver } = tree
  const folders = sources.flatMap(({ file }) => (file.endsWith('.rego') ? [dirname(file)] : []))
  const isWithin = (file: string): boolean =>
    folders.some((folder) => !relative(folder, file).startsWith('..'))
  if (folders.length > 0 && acceptsJson) return true
  const isOther = (file: string): boolean => !isDefinitionFile(file) || isConfiguration(file)
  return folders.length > 0 && passedOver.every((file) => isOther(file) || isWithin(file))
}

/** Returns the absolute paths of the files that policies in directories consist of. */
export async function policyFilesIn(directories: readonly string[]): Promise<ReadonlySet<string>> {
  const trees = await Promise.all(directories.map(async (directory) => await listSourceTree(directory)))
  return new Set(trees.flatMap(({ sources }) => sources.map(({ file }) => resolve(file))))
}

/**
 * Compiles all Rego, including tests, with `opa check`. Raises `invalid` with the location of each
 * error.
 */
export async function compileAll(
  directories: readonly string[],
  { strict = false }: PolicyCheckOptions,
  { findOpa }: Pick<LoadOptions, 'findOpa'>,
): Promise<void> {
  const opa = await findOpa()
  const { rego } = await collectSources(directories, { includeTests: true })
  const modules = await parseModules(opa, rego)
  const toSource = sourceFiles(modules)
  await inTemporaryDirectory(async (cwd) => {
    await stageBundle(cwd, modules, new RegoObject([]))
    const check = async (format: 'json' | 'pretty') => {
      const flags = ['--format', format, '--max-errors', MAX_ERRORS, ...(strict ? ['--strict'] : [])]
      return await runOffline(opa, { command: 'check', flags: [...flags, '--bundle', '.'] }, { cwd })
    }
    const run = await check('json')
    if (run.exitCode === 0) return
    const errors = withTypes(readOpaErrors(run, toSource), await check('pretty'), toSource)
    throw compileError(await withNearNames(errors, modules, opa))
  })
}
