import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { BundleFiles } from '../archive/read-bundle.js'
import { parseModules } from '../compile/parse-modules.js'
import { lossDetails } from '../compile/plan/loss-details.js'
import { mayLose, ruleTree } from '../compile/may-lose.js'
import { planLosses } from '../compile/plan-losses.js'
import { bundleFiles, sourceFiles, stagedName } from '../compile/stage-bundle.js'
import { outlineModule } from '../lint/outline-module.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey } from '../values/path-key.js'
import { RegoObject } from '../values/value.js'

/**
 * Raises `invalid` for the Rego in a bundle that another program than `tidegate build` compiled where the compiled code answers differently, and where that
 * cannot be found out. OPA leaves out of a bundle the rules that are its entrypoints: those cannot be checked.
 */
export async function refuseBundleLosses(
  bundle: string,
  { wasm, index, rego }: BundleFiles,
  findOpa: () => Promise<OpaProgram>,
): Promise<void> {
  if (wasm === undefined || index !== undefined || rego.size === 0) return
  const files = [...rego].map(([name, text]) => ({ file: `${bundle}/${name}`, text }))
  const outlined = files.flatMap((file) => outlineModule(file) ?? [])
  const outline = ruleTree(outlined)
  if (!outlined.some((module) => mayLose(module, outline))) return
  // Bundles are served without a compiler, too.
  const opa = await findOpa().catch(() => undefined)
  if (opa === undefined) return
  const modules = await parseModules(opa, files).catch((cause: unknown) => {
    throw uncheckable(bundle, cause)
  })
  const rules = ruleTree(modules)
  const hasRules = modules.filter((module) => module.rules.some(({ isFunction }) => !isFunction))
  const kept = [...new Set(hasRules.map(({ packagePath }) => pathKey(packagePath)))]
  const losses = await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const texts = bundleFiles(modules, new RegoObject([]), stagedName, '')
    return await planLosses({ opa, directory, files: texts }, kept, rules)
  })
  if (losses === undefined) throw uncheckable(bundle)
  if (losses.length > 0)
    throw new AppError(
      'invalid',
      `bundle ${bundle} holds code that answers differently from OPA: build it with \`tidegate build\`, or write these expressions in other words`,
      { details: lossDetails(losses, sourceFiles(modules)) },
    )
}

function uncheckable(bundle: string, cause?: unknown): AppError {
  return new AppError(
    'invalid',
    `bundle ${bundle} looks rules up by variables, and the opa program cannot check how they were compiled: build it with \`tidegate build\`, or name the OPA that built it with --opa or OPA_BIN`,
    { cause },
  )
}
