import type { RegoVersion } from '../../opa/opa-release.js'
import type { Import } from './read-imports.js'

const OF_VERSION_1 = ['contains', 'every', 'if', 'in']

/** The words that are keywords in a module by its version and imports, `not` where it negates a body as a whole; `later` are those of the compiler that no version has. */
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
