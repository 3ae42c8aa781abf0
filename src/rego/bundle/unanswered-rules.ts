import { verdictPlace } from '../values/verdict-rules.js'
import { pathKey } from '../values/path-key.js'
import type { RegoModule } from '../modules/rego-module.js'

/** A package with a verdict rule in its sources that has no entrypoint in the module. */
export interface UnansweredPackage {
  readonly path: readonly string[]
  /** Its verdict rules that nothing answers. */
  readonly rules: readonly string[]
}

/** Returns the packages with verdict rules that no entrypoint answers. */
export function findUnansweredPackages(
  modules: readonly RegoModule[],
  isAnswered: (path: readonly string[]) => boolean,
): UnansweredPackage[] {
  const packages = new Map<string, { path: readonly string[]; rules: Set<string> }>()
  for (const { packagePath, rules } of modules) {
    for (const { path, isFunction } of rules) {
      const place = isFunction ? undefined : verdictPlace(path)
      if (place === undefined) continue
      const document = [...packagePath, ...place.document]
      if (isAnswered([...document, place.rule])) continue
      const known = packages.get(pathKey(document)) ?? { path: document, rules: new Set<string>() }
      packages.set(pathKey(document), known)
      known.rules.add(place.rule)
    }
  }
  return [...packages.values()].map(({ path, rules }) => ({ path, rules: [...rules] }))
}
