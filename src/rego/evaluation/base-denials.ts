import { ALLOW_RULE } from '../values/verdict-rules.js'
import { documentStatement, notTrue } from './denials.js'
import { printPackageName } from '../values/print-data-ref.js'
import { pathKey, pathOfKey } from '../values/path-key.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/**
 * Returns the denials that base documents state, by package key. Base documents may deny but never
 * allow, because only rules know the input. A package named `allow` below another one denies if it
 * is not true.
 */
export function findBaseDenials(
  packages: readonly string[],
  data: RegoObject,
): Map<string, readonly string[]> {
  const denials = new Map<string, readonly string[]>()
  const known = new Set(packages)
  for (const key of packages) {
    const path = pathOfKey(key)
    for (const above of packagesWithAllowAbove(path)) {
      const name = printPackageName([...pathOfKey(above), ALLOW_RULE])
      if (known.has(above)) denials.set(above, [...new Set([...(denials.get(above) ?? []), notTrue(name)])])
    }
    const base = path.reduce(memberOf, data)
    const statement =
      base instanceof RegoObject ? documentStatement(base, printPackageName(path)) : 'undefined'
    if (typeof statement !== 'string' && statement.length > 0)
      denials.set(key, [...new Set([...statement, ...(denials.get(key) ?? [])])])
  }
  return denials
}

/** Returns the keys of paths with a child that must be true. */
function packagesWithAllowAbove(path: readonly string[]): string[] {
  return path.flatMap((segment, length) =>
    segment === ALLOW_RULE && length > 0 ? [pathKey(path.slice(0, length))] : [],
  )
}

function memberOf(value: RegoValue | undefined, name: string): RegoValue | undefined {
  return value instanceof RegoObject ? value.get(name) : undefined
}
