import { nearestName } from '../../lib/text/nearest-name.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { printDataRef } from '../values/print-data-ref.js'
import { RegoObject } from '../values/value.js'
import { walkBaseDocument } from '../values/walk-value.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { ruleAbove } from './find-entrypoints.js'

/** Number of names in a sentence. */
const MAX_NAMES = 10

/**
 * Returns why a path is undefined, as a sentence: because of the input, or because nothing is at
 * the path, with similar names. Names members of base documents only if reading them is fast.
 */
export function explainUndefined(snapshot: Snapshot, path: readonly string[], readsData: boolean): string {
  const shown = printDataRef(path)
  const known = knownLength(snapshot, path)
  if (known === path.length) return `${shown} is undefined for this input`
  const rule = ruleAbove(snapshot, path)
  if (rule !== undefined) return `${printDataRef(rule.path)} has nothing there for this input: ${shown}`
  const front = path.slice(0, known)
  const names = [
    ...new Set([...namesBelow(snapshot, front), ...(readsData ? membersAt(snapshot, front) : [])]),
  ].sort()
  const near = nearestName(path[known] ?? '', names)
  const meant = [
    ...(near === undefined ? [] : [printDataRef([...front, near, ...path.slice(known + 1)])]),
    ...endingLike(snapshot, path),
  ]
  const hint =
    meant.length === 0 ? ';' : `; did you mean ${[...new Set(meant)].slice(0, MAX_NAMES).join(' or ')}?`
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
  const list = names.length === 0 ? 'nothing' : names.slice(0, MAX_NAMES).join(', ')
  return `nothing is called ${shown}${hint} ${printDataRef(front)} has ${list}${more}`
}

/** Returns the length of the existing prefix of a path. */
function knownLength(snapshot: Snapshot, path: readonly string[]): number {
  const known = path.findIndex((name, length) => {
    const front = path.slice(0, length)
    return (
      !namesBelow(snapshot, front).has(name) &&
      walkBaseDocument(snapshot.data, [...front, name]) === undefined
    )
  })
  return known === -1 ? path.length : known
}

const NO_NAMES: ReadonlySet<string> = new Set()
const namesByKey = new WeakMap<Snapshot, ReadonlyMap<string, ReadonlySet<string>>>()

/** Returns the names of packages and rules directly below a path. */
function namesBelow(snapshot: Snapshot, path: readonly string[]): ReadonlySet<string> {
  const known = namesByKey.get(snapshot) ?? listNames(snapshot)
  namesByKey.set(snapshot, known)
  return known.get(pathKey(path)) ?? NO_NAMES
}

function listNames(snapshot: Snapshot): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>()
  for (const path of keysOf(snapshot).map(pathOfKey)) {
    for (const [length, name] of path.entries()) {
      const key = pathKey(path.slice(0, length))
      const below = names.get(key) ?? new Set()
      names.set(key, below.add(name))
    }
  }
  return names
}

function membersAt(snapshot: Snapshot, path: readonly string[]): string[] {
  const base = walkBaseDocument(snapshot.data, path)
  return base instanceof RegoObject ? base.keys.flatMap((key) => (typeof key === 'string' ? [key] : [])) : []
}

/** Matches paths that end with the whole path, since users omit the package's prefix. */
function endingLike(snapshot: Snapshot, path: readonly string[]): string[] {
  const end = `/${pathKey(path)}`
  return keysOf(snapshot)
    .filter((key) => key.endsWith(end))
    .map((key) => printDataRef(pathOfKey(key)))
    .sort()
}

function keysOf({ packages, entrypoints }: Snapshot): string[] {
  return [...packages, ...entrypoints.keys()]
}
