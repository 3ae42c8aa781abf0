import type { ErrorDetail } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import { positionIn } from '../modules/tokens/read-tokens.js'
import type { DescribedModule } from './describe-module.js'

/** A package that Armory's Policy Engine evaluates. */
interface ArmoryPackage {
  /** Dotted. A type of stage, task or operation follows `*`. */
  readonly name: string
  readonly verdict: 'deny' | 'allow'
}

/**
 * The packages of Armory's documentation ("Policy Engine", "OPA packages"), with the names of its
 * messages and examples.
 */
const PACKAGES: readonly ArmoryPackage[] = [
  { name: 'opa.pipelines', verdict: 'deny' },
  { name: 'spinnaker.persistence.pipelines.before', verdict: 'deny' },
  { name: 'spinnaker.execution.pipelines.before', verdict: 'deny' },
  { name: 'spinnaker.execution.stages.before.*', verdict: 'deny' },
  { name: 'spinnaker.execution.stages.after.*', verdict: 'deny' },
  { name: 'spinnaker.execution.task.before.*', verdict: 'deny' },
  { name: 'spinnaker.deployment.tasks.before.*', verdict: 'deny' },
  { name: 'spinnaker.http.authz', verdict: 'allow' },
  { name: 'spinnaker.ui.entitlements.isFeatureEnabled', verdict: 'allow' },
]

/** A package of the loaded policies. */
interface LoadedPackage {
  readonly path: readonly string[]
  readonly modules: readonly DescribedModule[]
  readonly statesVerdict: boolean
  readonly isLibrary: boolean
}

/** The packages that Armory's Policy Engine evaluates when a pipeline is saved. */
export const ARMORY_SAVE_PACKAGES: readonly string[] = [
  'opa.pipelines',
  'spinnaker.persistence.pipelines.before',
]

/**
 * Returns a package that Armory's Policy Engine evaluates without the rule that it reads, and one
 * whose name is close to such a package.
 */
export function checkArmoryPackage(described: LoadedPackage): ErrorDetail[] {
  const { path, modules, isLibrary } = described
  const [module] = modules
  if (module === undefined || isLibrary || (path[0] !== 'spinnaker' && path[0] !== 'opa')) return []
  const location = { file: module.module.file, ...positionIn(module.text, module.packageOffset) }
  const name = path.join('.')
  const known = PACKAGES.find((candidate) => isNamed(path, candidate))
  if (known === undefined) {
    const meant = described.statesVerdict ? intended(path) : undefined
    if (meant === undefined) return []
    const message = `Armory's Policy Engine does not evaluate package ${name}; did you mean ${meant}?`
    return [{ code: 'unasked_package', message, location }]
  }
  const rules = modules.flatMap((each) => each.module.rules)
  if (rules.some(({ path: rule, isFunction }) => rule[0] === known.verdict && !isFunction)) return []
  const effect = known.verdict === 'deny' ? 'it never denies anything' : 'it allows nothing'
  const message = `package ${name} has no rule ${known.verdict}, which Armory's Policy Engine reads: ${effect}`
  return [{ code: 'no_verdict', message, location }]
}

function isNamed(path: readonly string[], { name }: ArmoryPackage): boolean {
  const segments = name.split('.')
  return segments.length === path.length && segments.every((one, at) => one === '*' || one === path[at])
}

/** Returns the package with the nearest name; undefined if none is near. */
function intended(path: readonly string[]): string | undefined {
  const candidates = PACKAGES.map(({ name }) => {
    const type = name.endsWith('.*') ? path.at(-1) : undefined
    return type === undefined ? name : `${name.slice(0, -1)}${type}`
  })
  return nearestName(path.join('.'), candidates)
}
