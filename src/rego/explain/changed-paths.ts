import type { DataFile } from '../data/load-data.js'
import type { RegoFile } from '../modules/rego-module.js'
import { packagePath } from '../values/package-line.js'
import { overlaps, referencesOf } from './select-modules.js'
import type { TraceableSources } from './traced-policies.js'

interface FileUse {
  readonly own: readonly string[]
  readonly uses: readonly (readonly string[])[]
}

/**
 * Compares two sets of sources. Returns whether the document at a path below `data` may differ:
 * something at, above or below it differs, or something that it refers to, at any distance.
 */
export function changedPaths(
  before: TraceableSources,
  after: TraceableSources,
): (path: readonly string[]) => boolean {
  const changed = [
    ...only(before.rego, after.rego, textOf).map(ownPath),
    ...only(after.rego, before.rego, textOf).map(ownPath),
    ...only(before.data, after.data, contentOf).map(({ at }) => at),
    ...only(after.data, before.data, contentOf).map(({ at }) => at),
    // Edits apply in order.
    ...(editsOf(before) === editsOf(after) ? [] : [[]]),
  ]
  const differing = [...changed]
  const left = new Set([...before.rego, ...after.rego].map(useOf))
  // Whatever reads a differing document differs, too.
  for (let path = changed.pop(); path !== undefined; path = changed.pop()) {
    for (const file of left) {
      if (!file.uses.some((used) => overlaps(used, path))) continue
      left.delete(file)
      differing.push(file.own)
      changed.push(file.own)
    }
  }
  return (path) => differing.some((other) => overlaps(path, other))
}

/** Returns the members of `some` that `others` lacks, by a key. */
function only<T>(some: readonly T[], others: readonly T[], keyOf: (one: T) => string): T[] {
  const known = new Map<string, number>()
  for (const other of others) known.set(keyOf(other), (known.get(keyOf(other)) ?? 0) + 1)
  return some.filter((one) => {
    const count = known.get(keyOf(one)) ?? 0
    known.set(keyOf(one), count - 1)
    return count <= 0
  })
}

function editsOf({ data }: TraceableSources): string {
  return JSON.stringify(data.filter(({ edit }) => edit !== undefined).map(contentOf))
}

function textOf({ text }: RegoFile): string {
  return text
}

function contentOf({ file, at, content, edit }: DataFile): string {
  const isYaml = /\.ya?ml$/.test(file)
  return JSON.stringify([at, isYaml, edit, Buffer.from(content).toString('latin1')])
}

function ownPath({ text }: RegoFile): readonly string[] {
  return packagePath(text) ?? []
}

function useOf(file: RegoFile): FileUse {
  return { own: ownPath(file), uses: referencesOf(file) }
}
