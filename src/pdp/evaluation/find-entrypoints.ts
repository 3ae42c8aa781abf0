import { integerSegment } from '../rego/data-path.js'
import { pathKey } from '../rego/path-key.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'

/** The entrypoints that a path names, one for each module that has it. */
export function entrypointsAt(snapshot: Snapshot, path: readonly string[]): readonly Entrypoint[] {
  return snapshot.entrypoints.get(pathKey(path)) ?? []
}

/** The rule whose value the path leads into. A package is none: what it does not list is not there. */
export function ruleAbove(snapshot: Snapshot, path: readonly string[]): Entrypoint | undefined {
  for (let length = path.length - 1; length > 0; length--) {
    const rule = entrypointsAt(snapshot, path.slice(0, length)).find(({ kind }) => kind === 'rule')
    if (rule !== undefined) return rule
  }
  return undefined
}

/**
 * The front of a path as sent that can name packages and rules: a decimal integer is a number to OPA, and the names of
 * packages and rules are texts.
 */
export function namesIn(path: readonly string[]): readonly string[] {
  const first = path.findIndex((segment) => integerSegment(segment) !== undefined)
  return first === -1 ? path : path.slice(0, first)
}
