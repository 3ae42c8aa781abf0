import type { RegoVersion } from '../opa/opa-release.js'
import { distinctPaths, pathKey } from '../values/path-key.js'
import { verdictOf, warningOf } from '../values/verdict-rules.js'

/** A Rego file as read. */
export interface RegoFile {
  /** The path that errors show. */
  readonly file: string
  readonly text: string
  /** The text as written, if `spellNumbers` changed it. */
  readonly source?: string
}

/** A parsed module. */
export interface RegoModule extends RegoFile {
  readonly version: RegoVersion
  /** The package path below `data`. */
  readonly packagePath: readonly string[]
  readonly rules: readonly RegoRule[]
}

export interface RegoRule {
  /** The constant path below the package. */
  readonly path: readonly string[]
  /** True if a variable follows the path, as in `p[x] = y`. */
  readonly isDynamic: boolean
  readonly isFunction: boolean
  /** True if each definition adds members to a set (`contains`). */
  readonly isSet?: boolean
  readonly isDefault?: boolean
  /**
   * True if no base document may have a value at the path. False if a constant key that is not a
   * string follows.
   */
  readonly excludesData: boolean
  /**
   * True if the name of a verdict rule follows a variable, as in `p[x].deny`. No path leads to such
   * a verdict without an input.
   */
  readonly hidesVerdict?: boolean
}

/** A path of the compiled module: a rule, or a document with packages and rules. */
export type EntrypointKind = 'rule' | 'document'

/**
 * Returns every path that can be evaluated, by its key: rules, packages, and the documents above
 * them with the root (an empty path). A rule below a dynamic rule is evaluated with that rule.
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
 * Returns the packages, and the documents below them with verdict rules or `warn` rules. `prod.deny`
 * in the package `static.freeze` is evaluated like `deny` in `static.freeze.prod`.
 */
export function evaluatedDocuments(modules: readonly RegoModule[]): readonly (readonly string[])[] {
  const documents = modules.flatMap(({ packagePath, rules }) => {
    const places = rules.flatMap(({ path, isFunction }) =>
      isFunction ? [] : [verdictOf(path)?.document ?? warningOf(path) ?? []],
    )
    return [packagePath, ...places.map((document) => [...packagePath, ...document])]
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

/** A document with functions only is empty, but still an entrypoint. */
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

/** Returns Rego files with the texts of some replaced, or added, by name. */
export function withFiles(
  rego: readonly RegoFile[],
  texts: Readonly<Record<string, string>>,
): readonly RegoFile[] {
  const others = rego.filter(({ file }) => !Object.hasOwn(texts, file))
  return [...others, ...Object.entries(texts).map(([file, text]) => ({ file, text }))]
}
