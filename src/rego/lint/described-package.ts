import type { DescribedModule } from './describe-module.js'
import { verdictPlace } from '../values/verdict-rules.js'

/** True among helpers of a package that others read as a whole. */
export const EVERY_RULE = '*'

/** The modules of one package together. */
export interface DescribedPackage {
  readonly path: readonly string[]
  readonly modules: readonly DescribedModule[]
  /** True if the package has a verdict rule; functions do not count. */
  readonly statesVerdict: boolean
  /** The rules that other rules use, of this package or another. */
  readonly helpers: ReadonlySet<string>
  readonly functions: ReadonlySet<string>
  /** True if other packages use it. */
  readonly isLibrary: boolean
}

/** The packages that modules make up, in the order of their first modules. */
export function groupByPackage(modules: readonly DescribedModule[]): DescribedPackage[] {
  const groups = new Map<string, DescribedModule[]>()
  for (const described of modules) {
    const key = keyOf(described.module.packagePath)
    groups.set(key, [...(groups.get(key) ?? []), described])
  }
  const used = usedFromElsewhere(modules)
  return [...groups].map(([key, members]) => describe(members, used.get(key)))
}

function describe(
  modules: readonly DescribedModule[],
  used: ReadonlySet<string> | undefined,
): DescribedPackage {
  const rules = modules.flatMap(({ module }) => module.rules)
  const heads = modules.flatMap((module) => module.heads)
  const isVerdict = ({ path, isFunction }: (typeof rules)[number]): boolean =>
    !isFunction && verdictPlace(path) !== undefined
  return {
    path: modules[0]?.module.packagePath ?? [],
    modules,
    statesVerdict: rules.some(isVerdict),
    helpers: new Set([...heads.flatMap(({ uses }) => [...uses]), ...(used ?? [])]),
    functions: new Set(rules.filter(({ isFunction }) => isFunction).map(({ path }) => path[0] ?? '')),
    isLibrary: used !== undefined,
  }
}

/** By package: the members that modules of other packages refer to. */
function usedFromElsewhere(modules: readonly DescribedModule[]): Map<string, Set<string>> {
  const packages = new Map<string, Set<string>>()
  const known = new Set(modules.map(({ module }) => keyOf(module.packagePath)))
  for (const { module, reads } of modules) {
    const own = keyOf(module.packagePath)
    for (const { path } of reads) {
      for (let length = 1; length <= path.length; length++) {
        const key = keyOf(path.slice(0, length))
        if (!known.has(key) || key === own) continue
        const members = packages.get(key) ?? new Set<string>()
        members.add(String(path[length] ?? EVERY_RULE))
        packages.set(key, members)
      }
    }
  }
  return packages
}

function keyOf(path: readonly (string | number)[]): string {
  return JSON.stringify(path)
}
