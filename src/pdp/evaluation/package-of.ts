import { pathKey } from '../rego/path-key.js'
import { printDataRef } from '../rego/print-data-ref.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'

const packages = new WeakMap<Snapshot, ReadonlySet<string>>()
const names = new WeakMap<Entrypoint, string>()

/** The package that an entrypoint stands in, as Rego writes it, `data.a.b`; a document above packages stands for itself. */
export function packageOf(snapshot: Snapshot, entrypoint: Entrypoint): string {
  const known = names.get(entrypoint) ?? printDataRef(packagePath(snapshot, entrypoint.path))
  names.set(entrypoint, known)
  return known
}

function packagePath(snapshot: Snapshot, path: readonly string[]): readonly string[] {
  const known = packages.get(snapshot) ?? new Set(snapshot.packages)
  packages.set(snapshot, known)
  for (let length = path.length; length > 0; length -= 1) {
    const above = path.slice(0, length)
    if (known.has(pathKey(above))) return above
  }
  return path
}
