import type { RegoVersion } from '../opa/opa-release.js'
import { distinctPaths, pathKey } from '../values/path-key.js'
import { verdictPlace } from '../values/verdict-rules.js'

/** A Rego file as read. */
export interface RegoFile {
  /** The path that errors show. */
  readonly file: string
  readonly text: string
  /** The text as written, if `spellNumbers` changed it. */
  readonly source?: string
}

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
  /** Whether each definition gives members of a set (`contains`). */
  readonly isSet?: boolean
  readonly isDefault?: boolean
  /** Whether no base document may have a value at the path: not where the path goes on with a fixed key that is no text. */
  readonly excludesData: boolean
  /** Whether the name of a verdict rule stands behind a variable, as in `p[x].deny`: no path leads to it before there is an input. */
  readonly hidesVerdict?: boolean
}

/** What a path of the compiled module is: a rule, or a document that holds packages and rules. */
export type EntrypointKind = 'rule' | 'document'

/**
 * Every path that can be evaluated by itself, by its key: all rules, all packages, and the documents above them, the
 * root (an empty path) included. A rule whose reference starts like a dynamic one's is reached through that one.
 */
export function listEntrypoints(modules: readonly RegoModule[]): Map<string, EntrypointKind> {
  const rules = rulePaths(modules)
  const entrypoints = new Map<string, EntrypointKind>([['', 'document']])
  for (const path of rules) {
    for (let length = 1; length < path.length; length++)
      entrypoints.set(pathKey(path.slice(0, length)), 'document')
  }
  for (const path of rules) entrypoints.set(pathKey(path), 'rule')
  addFunctionDocuments(modules, entrypoints)
  return entrypoints
}

/**
 * The packages of modules, and the documents below them whose rules state a verdict: `prod.deny` of the package `static.freeze` is what `deny` would be in
 * `static.freeze.prod`, and is asked like it.
 */
export function askedDocuments(modules: readonly RegoModule[]): readonly (readonly string[])[] {
  const documents = modules.flatMap(({ packagePath, rules }) => {
    const places = rules.flatMap(({ path, isFunction }) => (isFunction ? [] : (verdictPlace(path) ?? [])))
    return [packagePath, ...places.map(({ document }) => [...packagePath, ...document])]
  })
  return distinctPaths(documents)
}

function rulePaths(modules: readonly RegoModule[]): string[][] {
  const paths = new Map<string, string[]>()
  const dynamic = new Set<string>()
  for (const module of modules) {
    for (const rule of module.rules.filter((candidate) => !candidate.isFunction)) {
      const path = [...module.packagePath, ...rule.path]
      paths.set(pathKey(path), path)
      if (rule.isDynamic) dynamic.add(pathKey(path))
    }
  }
  return [...paths.values()].filter((path) => !isBelowDynamic(path, dynamic))
}

function isBelowDynamic(path: readonly string[], dynamic: ReadonlySet<string>): boolean {
  return path.some((_, length) => length > 0 && dynamic.has(pathKey(path.slice(0, length))))
}

/** A document that holds nothing but functions is empty, and an entrypoint all the same. */
function addFunctionDocuments(
  modules: readonly RegoModule[],
  entrypoints: Map<string, EntrypointKind>,
): void {
  for (const { packagePath, rules } of modules)
    for (const { path, isFunction } of rules) {
      const document = [...packagePath, ...(isFunction ? path.slice(0, -1) : [])]
      for (let length = 1; length <= document.length; length++) {
        const key = pathKey(document.slice(0, length))
        if (!entrypoints.has(key)) entrypoints.set(key, 'document')
      }
    }
}
