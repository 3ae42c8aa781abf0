import { documentStatement } from './denials.js'
import { printPackageName } from './rego/print-data-ref.js'
import { pathOfKey } from './rego/path-key.js'
import { RegoObject } from './rego/value.js'
import type { RegoValue } from './rego/value.js'

/**
 * By the key of a package: what base documents beside its rules say against everything. They may deny, but never allow: an
 * allow is for rules to state, which know what is asked.
 */
export function findBaseDenials(
  packages: readonly string[],
  data: RegoObject,
): Map<string, readonly string[]> {
  const denials = new Map<string, readonly string[]>()
  for (const key of packages) {
    const path = pathOfKey(key)
    const base = path.reduce(memberOf, data)
    const statement =
      base instanceof RegoObject ? documentStatement(base, printPackageName(path)) : 'undefined'
    if (typeof statement !== 'string' && statement.length > 0) denials.set(key, statement)
  }
  return denials
}

function memberOf(value: RegoValue | undefined, name: string): RegoValue | undefined {
  return value instanceof RegoObject ? value.get(name) : undefined
}
