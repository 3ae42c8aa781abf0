import { integerSegment } from '../values/data-path.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { printPackageName } from '../values/print-data-ref.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'

/** Returns the entrypoints of a path, one for each module. */
export function entrypointsAt(snapshot: Snapshot, path: readonly string[]): readonly Entrypoint[] {
  return snapshot.entrypoints.get(pathKey(path)) ?? []
}

interface SnapshotNames {
  /** The keys of the packages. */
  readonly packages: ReadonlySet<string>
  /** Length of the longest path of a package or entrypoint. */
  readonly longest: number
}

const names = new WeakMap<Snapshot, SnapshotNames>()

function namesOf(snapshot: Snapshot): SnapshotNames {
  const known = names.get(snapshot)
  if (known !== undefined) return known
  const paths = [...snapshot.packages, ...snapshot.entrypoints.keys()].map(pathOfKey)
  const longest = paths.reduce((most, { length }) => Math.max(most, length), 0)
  const found = { packages: new Set(snapshot.packages), longest }
  names.set(snapshot, found)
  return found
}

/** Returns the length of the longest package that is a prefix of a path; 0 if there is none. */
export function packageLength(snapshot: Snapshot, path: readonly string[]): number {
  const { packages, longest } = namesOf(snapshot)
  for (let length = Math.min(path.length, longest); length > 0; length--) {
    if (packages.has(pathKey(path.slice(0, length)))) return length
  }
  return 0
}

const packageNames = new WeakMap<Entrypoint, string>()

/**
 * Returns the package of an entrypoint, for explanations and the decision log: `a.b`. A document
 * above packages returns itself.
 */
export function packageOf(snapshot: Snapshot, entrypoint: Entrypoint): string {
  const known = packageNames.get(entrypoint)
  if (known !== undefined) return known
  const { path } = entrypoint
  const length = packageLength(snapshot, path)
  const name = printPackageName(length === 0 ? path : path.slice(0, length))
  packageNames.set(entrypoint, name)
  return name
}

/**
 * Returns the rule whose value the path leads into. Packages are excluded: they list all their
 * members.
 */
export function ruleAbove(snapshot: Snapshot, path: readonly string[]): Entrypoint | undefined {
  // Paths of callers are checked up to the longest known path. They may have thousands of segments.
  for (let length = Math.min(path.length - 1, namesOf(snapshot).longest); length > 0; length--) {
    const rule = entrypointsAt(snapshot, path.slice(0, length)).find(({ kind }) => kind === 'rule')
    if (rule !== undefined) return rule
  }
  return undefined
}

/**
 * Returns the prefix of a path as sent that can name packages and rules. OPA parses a decimal
 * integer as a number, which names neither.
 */
export function namesIn(path: readonly string[]): readonly string[] {
  const first = path.findIndex((segment) => integerSegment(segment) !== undefined)
  return first === -1 ? path : path.slice(0, first)
}
