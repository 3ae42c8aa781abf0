import { RegoNumber, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

type Segment = string | number

/** Objects with more members are treated as tables whose keys nobody wrote by hand. */
const MAX_NAMES = 2000

/** A rule with its package, or a package. */
export interface DefinedRule {
  readonly packagePath: readonly string[]
  /** The constant path below the package; undefined for the package itself. */
  readonly path: readonly string[] | undefined
}

/** How far a path leads. */
export interface Lookup {
  /** True if a document exists, or if only evaluation can show it. */
  readonly isDefined: boolean
  /** The number of existing segments. */
  readonly known: number
  /** Returns the siblings of the first missing name; none for large tables. */
  readonly names: () => readonly string[]
}

interface PackageNode {
  /** The value of a rule is unknown before evaluation. */
  isRule: boolean
  readonly children: Map<string, PackageNode>
}

/** The documents below `data` that rules or base documents define. */
export class DefinedDocuments {
  readonly #root: PackageNode = { isRule: false, children: new Map() }
  readonly #data: RegoObject

  constructor(rules: Iterable<DefinedRule>, data: RegoObject) {
    this.#data = data
    for (const { packagePath, path } of rules) {
      const node = [...packagePath, ...(path ?? [])].reduce(descend, this.#root)
      if (path !== undefined) node.isRule = true
    }
  }

  /** Follows a constant path through packages, rules and base documents. */
  find(path: readonly Segment[]): Lookup {
    let rules: PackageNode | undefined = this.#root
    let data: RegoValue | undefined = this.#data
    for (const [known, segment] of path.entries()) {
      if (rules?.isRule) break
      const nextRules: PackageNode | undefined =
        typeof segment === 'string' ? rules?.children.get(segment) : undefined
      // The last member is not read, since an array would be read completely.
      const isEnd = known === path.length - 1
      if (isEnd && (nextRules !== undefined || hasMember(data, segment))) break
      const nextData: RegoValue | undefined = isEnd ? undefined : memberOf(data, segment)
      if (nextRules === undefined && nextData === undefined)
        return { isDefined: false, known, names: namesIn(rules, data) }
      rules = nextRules
      data = nextData
    }
    return { isDefined: true, known: path.length, names: () => [] }
  }
}

function descend(node: PackageNode, segment: string): PackageNode {
  const present = node.children.get(segment)
  if (present !== undefined) return present
  const created: PackageNode = { isRule: false, children: new Map() }
  node.children.set(segment, created)
  return created
}

function memberOf(value: RegoValue | undefined, segment: Segment): RegoValue | undefined {
  if (value instanceof RegoObject) return value.get(keyOf(segment))
  if (Array.isArray(value) && typeof segment === 'number') return (value as readonly RegoValue[])[segment]
  return undefined
}

function hasMember(value: RegoValue | undefined, segment: Segment): boolean {
  return value instanceof RegoObject ? value.has(keyOf(segment)) : memberOf(value, segment) !== undefined
}

function keyOf(segment: Segment): RegoValue {
  return typeof segment === 'number' ? RegoNumber.of(segment) : segment
}

function namesIn(rules: PackageNode | undefined, data: RegoValue | undefined): Lookup['names'] {
  return () => [...(rules?.children.keys() ?? []), ...keysOf(data)]
}

function keysOf(value: RegoValue | undefined): string[] {
  // Reading millions of keys would block the thread that decides.
  if (!(value instanceof RegoObject) || value.size > MAX_NAMES) return []
  return value.keys.filter((key): key is string => typeof key === 'string')
}
