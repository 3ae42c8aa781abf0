import { dirname, relative } from 'node:path'

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

export interface PolicyCheckOptions {
  /** Whether what compiles, and is a mistake in all likelihood, is an error, as for `opa check --strict`. */
  readonly strict?: boolean | undefined
}

/** OPA gives up after ten errors unless told otherwise. */
const MAX_ERRORS = '10000'

/**
 * Whether paths name policies, and no documents to ask about: Rego, or directories of it without other JSON than data. Where there is
 * nobody to ask (`isUnasked`), Rego is enough.
 */
export async function arePolicies(paths: readonly string[], isUnasked = false): Promise<boolean> {
  const answers = await Promise.all(paths.map(async (path) => await holdsPolicies(path, isUnasked)))
  return answers.length > 0 && answers.every((isRego) => isRego)
}

async function holdsPolicies(path: string, isUnasked: boolean): Promise<boolean> {
  // What cannot be read is told where it is read.
  const tree = await listSourceTree(path).catch(() => undefined)
  if (tree === undefined) return false
  const { sources, passedOver } = tree
  const folders = sources.flatMap(({ file }) => (file.endsWith('.rego') ? [dirname(file)] : []))
  const isWithin = (file: string): boolean =>
    folders.some((folder) => !relative(folder, file).startsWith('..'))
  if (folders.length > 0 && isUnasked) return true
  return folders.length > 0 && passedOver.every((file) => !file.endsWith('.json') || isWithin(file))
}

/** Compiles all Rego of directories, tests too, with `opa check`. Raises `invalid` naming each error by file, row and column. */
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
