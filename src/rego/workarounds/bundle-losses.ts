import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { BundleFiles } from '../archive/read-bundle.js'
import { parseModules } from '../modules/parse-modules.js'
import { lossDetails } from './plan/find-losses.js'
import { ruleTree, suspectModules } from './suspect-modules.js'
import { planLosses } from './plan-losses.js'
import { bundleFiles, sourceFiles, stagedName } from '../modules/stage-bundle.js'
import { outlineModule } from '../modules/outline-module.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { pathKey } from '../values/path-key.js'
import { RegoObject } from '../values/value.js'

/**
 * Raises `invalid` if the code of a bundle that `tidegate build` did not compile differs from OPA's
 * evaluator, or cannot be checked.
 *
 * Fault: the faults of `plan/find-losses.ts`, which nothing has worked around in such a bundle.
 * Versions: 0.70 and 1.x up to 1.20.2.
 *
 * A bundle lacks the Rego of rules that are its entrypoints, so these are not checked. Without an
 * `opa` program no rule is checked, because bundles can be served without one.
 */
export async function refuseBundleLosses(
  bundle: string,
  { wasm, index, rego }: BundleFiles,
  findOpa: () => Promise<OpaProgram>,
): Promise<void> {
  if (wasm === undefined || index !== undefined || rego.size === 0) return
  const files = [...rego].map(([name, text]) => ({ file: `${bundle}/${name}`, text }))
  const outlined = files.flatMap((file) => outlineModule(file) ?? [])
  if (suspectModules(outlined).length === 0) return
  const found = await findOpa().catch(() => undefined)
  if (found === undefined) return
  // The bundle is compiled already, so `policies.capabilities` does not apply to it.
  const opa = { ...found, capabilities: undefined }
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
      `bundle ${bundle} has compiled code with other results than OPA. Build it with \`tidegate build\`, or rewrite these expressions`,
      { details: lossDetails(losses, sourceFiles(modules)) },
    )
}

function uncheckable(bundle: string, cause?: unknown): AppError {
  return new AppError(
    'invalid',
    `bundle ${bundle} looks rules up by variables, and the opa program cannot check how they were compiled. Build it with \`tidegate build\`, or name the OPA that built it with --opa or OPA_BIN`,
    { cause },
  )
}
