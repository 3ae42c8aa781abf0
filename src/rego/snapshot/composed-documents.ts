import { pathKey } from '../values/path-key.js'
import type { PolicyModule } from '../wasm/policy-module.js'
import type { Entrypoint } from './snapshot.js'

/** The entrypoint number of a composed document, which the module has no code for. */
const NO_NUMBER = -1

/**
 * Returns entrypoints for documents composed from the rules below them. They belong to
 * `module`. Paths at or below a rule are left out, since the rule's value already contains them:
 * `limits.deny` next to `limits[x].most`.
 */
export function composeEntrypoints(
  module: PolicyModule,
  paths: readonly (readonly string[])[],
  rules: readonly Entrypoint[],
): Entrypoint[] {
  const modules = new Set([module, ...rules.map((rule) => rule.module)])
  const ruleKeys = new Set(rules.map(({ path }) => pathKey(path)))
  const documents = paths.filter((path) => !isWithinRule(path, ruleKeys))
  const documentsBelow = groupByPathAbove(documents.map((path) => ({ path, item: path })))
  const rulesBelow = groupByPathAbove(rules.map((rule) => ({ path: rule.path, item: rule })))
  return documents.map((path) => ({
    path,
    kind: 'document' as const,
    module,
    number: NO_NUMBER,
    parts: {
      documents: documentsBelow.get(pathKey(path)) ?? [],
      rules: rulesBelow.get(pathKey(path)) ?? [],
      modules,
    },
  }))
}

function isWithinRule(path: readonly string[], ruleKeys: ReadonlySet<string>): boolean {
  return path.some((_, place) => ruleKeys.has(pathKey(path.slice(0, place + 1))))
}

/** Groups items by the keys of all paths above theirs. */
function groupByPathAbove<T>(items: readonly { path: readonly string[]; item: T }[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const { path, item } of items) {
    for (let length = 0; length < path.length; length++) {
      const key = pathKey(path.slice(0, length))
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [item])
      else group.push(item)
    }
  }
  return groups
}
