import { nearestName } from '../../lib/text/nearest-name.js'
import { ruleAbove } from '../../pdp/evaluation/find-entrypoints.js'
import { pathOfKey } from '../../pdp/rego/path-key.js'
import { printDataRef } from '../../pdp/rego/print-data-ref.js'
import { RegoObject } from '../../pdp/rego/value.js'
import { walkBaseDocument } from '../../pdp/rego/walk-value.js'
import type { Snapshot } from '../../pdp/snapshot/snapshot.js'

/** How many names a sentence lists. */
const MOST_NAMES = 10

/** Why there is no value at a path, in a sentence: the input, or a path that nothing has, with the names that are near. */
export function explainUndefined(snapshot: Snapshot, path: readonly string[]): string {
  const shown = printDataRef(path)
  const known = knownLength(snapshot, path)
  if (known === path.length) return `${shown} is undefined for this input`
  const rule = ruleAbove(snapshot, path)
  if (rule !== undefined) return `${printDataRef(rule.path)} has nothing there for this input: ${shown}`
  const front = path.slice(0, known)
  const names = namesAt(snapshot, front)
  const near = nearestName(path[known] ?? '', names)
  const meant = [
    ...(near === undefined ? [] : [printDataRef([...front, near, ...path.slice(known + 1)])]),
    ...endingLike(snapshot, path),
  ]
  const hint =
    meant.length === 0 ? ';' : `; did you mean ${[...new Set(meant)].slice(0, MOST_NAMES).join(' or ')}?`
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''
  const list = names.length === 0 ? 'nothing' : names.slice(0, MOST_NAMES).join(', ')
  return `nothing is called ${shown}${hint} ${printDataRef(front)} has ${list}${more}`
}

/** How much of the front of a path names something. */
function knownLength(snapshot: Snapshot, path: readonly string[]): number {
  const known = path.findIndex((name, length) => !namesAt(snapshot, path.slice(0, length)).includes(name))
  return known === -1 ? path.length : known
}

/** The names of packages, rules and data right below a path, in order. */
function namesAt(snapshot: Snapshot, path: readonly string[]): string[] {
  const below = pathsIn(snapshot).flatMap((other) =>
    other.length > path.length && path.every((name, index) => other[index] === name)
      ? [other[path.length] ?? '']
      : [],
  )
  const base = walkBaseDocument(snapshot.data, path)
  const keys =
    base instanceof RegoObject ? base.entries.flatMap(([key]) => (typeof key === 'string' ? [key] : [])) : []
  return [...new Set([...below, ...keys])].sort()
}

/** What has the whole path at its end: people leave out where a package stands. */
function endingLike(snapshot: Snapshot, path: readonly string[]): string[] {
  const ending = pathsIn(snapshot).filter((other) =>
    path.every((name, at) => other.at(at - path.length) === name),
  )
  return ending.map(printDataRef).sort()
}

function pathsIn({ packages, entrypoints }: Snapshot): (readonly string[])[] {
  return [...packages, ...entrypoints.keys()].map(pathOfKey)
}
