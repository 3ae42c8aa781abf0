import type { RegoVersion } from '../opa/rego-version.js'
import type { RegoFile } from './collect-sources.js'

/** What the compiler needs to know of a parsed module. */
export interface RegoModule extends RegoFile {
  readonly version: RegoVersion
  /** The package path below `data`. */
  readonly packagePath: readonly string[]
  readonly rules: readonly RegoRule[]
}

export interface RegoRule {
  /** The path below the package, as far as it is fixed when compiled. */
  readonly path: readonly string[]
  /** Whether the reference goes on with a variable, as in `p[x] = y`. */
  readonly isDynamic: boolean
  readonly isFunction: boolean
  /** Whether no base document may have a value at the path: not where the path goes on with a fixed key that is no text. */
  readonly excludesData: boolean
}

/** What a path of the compiled module is: a rule, or a document that holds packages and rules. */
export type EntrypointKind = 'rule' | 'document'

/**
 * Every path that can be evaluated by itself: all rules, all packages, and the documents above them, the root (an
 * empty path) included. A rule whose reference starts like a dynamic one's is reached through that one.
 */
export function listEntrypoints(modules: readonly RegoModule[]): Map<string, EntrypointKind> {
  const rules = rulePaths(modules)
  const entrypoints = new Map<string, EntrypointKind>([['', 'document']])
  for (const path of rules) {
    for (let length = 1; length < path.length; length++)
      entrypoints.set(path.slice(0, length).join('/'), 'document')
  }
  for (const path of rules) entrypoints.set(path.join('/'), 'rule')
  addFunctionPackages(modules, entrypoints)
  return entrypoints
}

function rulePaths(modules: readonly RegoModule[]): string[][] {
  const paths = new Map<string, string[]>()
  const dynamic = new Set<string>()
  for (const module of modules) {
    for (const rule of module.rules.filter((candidate) => !candidate.isFunction)) {
      const whole = [...module.packagePath, ...rule.path]
      const path = addressable(whole)
      paths.set(path.join('/'), path)
      if (rule.isDynamic || path.length < whole.length) dynamic.add(path.join('/'))
    }
  }
  return [...paths.values()].filter((path) => !isBelowDynamic(path, dynamic))
}

function isBelowDynamic(path: readonly string[], dynamic: ReadonlySet<string>): boolean {
  return path.some((_, length) => length > 0 && dynamic.has(path.slice(0, length).join('/')))
}

/** A package that holds nothing but functions is an empty document, and an entrypoint all the same. */
function addFunctionPackages(modules: readonly RegoModule[], entrypoints: Map<string, EntrypointKind>): void {
  for (const { packagePath, rules } of modules) {
    if (rules.length === 0 || addressable(packagePath).length < packagePath.length) continue
    for (let length = 1; length <= packagePath.length; length++) {
      const path = packagePath.slice(0, length).join('/')
      if (!entrypoints.has(path)) entrypoints.set(path, 'document')
    }
  }
}

/** The front of a path that `opa build -e` can spell: a slash inside a segment has no spelling there. */
function addressable(path: readonly string[]): string[] {
  const unspellable = path.findIndex((segment) => segment.includes('/') || segment === '')
  return unspellable === -1 ? [...path] : path.slice(0, unspellable)
}
