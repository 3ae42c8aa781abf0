import type { RegoVersion } from '../../opa/opa-release.js'
import type { Import } from './read-imports.js'

const OF_VERSION_1 = ['contains', 'every', 'if', 'in']

/**
 * Returns the keywords of a module by its version and imports, with `not` if it negates whole
 * bodies. `later` are keywords of the compiler that no Rego version has by default.
 */
export function moduleKeywords(
  version: RegoVersion,
  imports: readonly Import[],
  later: readonly string[],
): ReadonlySet<string> {
  const keywords = new Set(version === 1 ? OF_VERSION_1 : [])
  for (const { path } of imports) {
    const [root, , word] = path
    const named = word === undefined ? [...OF_VERSION_1, ...later] : [word]
    for (const added of root === 'rego' ? OF_VERSION_1 : root === 'future' ? named : []) keywords.add(added)
  }
  return keywords
}
