import { goJsonString } from '../../lib/json/text/escape.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { pathOfKey } from '../values/path-key.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { Snapshot } from '../snapshot/snapshot.js'

/** Depth of OPA's check: every rule has at least two names before its own. */
const NAMES_IN_FRONT = 2

/**
 * Returns OPA's error for a path with a number where only names can be, directly after `data` or
 * after the first segment of packages (`checkRef` in `ast/check.go`). Undefined for other paths.
 * `names` is the path before its first number.
 */
export function refuseNumber(
  snapshot: Snapshot,
  path: readonly string[],
  names: readonly string[],
): string | undefined {
  if (names.length === path.length || names.length >= NAMES_IN_FRONT) return undefined
  const known = namesBelow(snapshot, names)
  if (known.length === 0) return undefined
  const ref = printDataRef(path)
  const indent = ' '.repeat(printDataRef(names).length + 1)
  const lines = [
    ref,
    `${indent}^`,
    `${indent}have (type): number`,
    `${indent}want (one of): [${known.join(' ')}]`,
  ]
  return `1 error occurred: 1:1: rego_type_error: undefined ref: ${ref}${lines.map((line) => `\n\t${line}`).join('')}`
}

/** Returns the names of rules and packages, as OPA lists them. Functions are unknown. */
function namesBelow({ entrypoints }: Snapshot, names: readonly string[]): string[] {
  const found = new Set<string>()
  for (const [key, candidates] of entrypoints) {
    const path = pathOfKey(key)
    const name = path[names.length]
    const isBelow = names.every((segment, place) => path[place] === segment)
    if (name !== undefined && isBelow && candidates.some(({ kind }) => kind === 'rule'))
      found.add(goJsonString(name))
  }
  return [...found].sort(compareStrings)
}
