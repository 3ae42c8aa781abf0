import { verdictPlace } from '../values/verdict-rules.js'
import { pathKey } from '../values/path-key.js'
import type { RegoModule } from '../modules/rego-module.js'

/** A package whose sources state a verdict that the compiled module has no entrypoint for: it can never be asked. */
export interface UnansweredPackage {
  readonly path: readonly string[]
  /** Its verdict rules that nothing answers. */
  readonly rules: readonly string[]
}

/** The packages among modules that have verdict rules whose path nothing answers. */
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
