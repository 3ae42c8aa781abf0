import type { ShortTurns } from '../../lib/turns/short-turns.js'
import { pathKey } from '../rego/path-key.js'
import { dependsOn } from './module-links.js'
import type { ModuleLinks } from './module-links.js'

type Places = readonly number[]

/** Which files may depend on which, by their places in a list. */
export interface LinkGraph {
  /** For each file, those that its code may depend on. */
  readonly needs: readonly Places[]
  /** For each file, those whose code may depend on it. */
  readonly users: readonly Places[]
}

/** The graph of files with the links of their modules. */
export async function findLinkGraph(
  files: readonly (readonly ModuleLinks[])[],
  turns: ShortTurns,
): Promise<LinkGraph> {
  const index = new PackageIndex()
  for (const [place, links] of files.entries())
    for (const { packagePath } of links) index.add(packagePath, place)
  const needs: Places[] = []
  const users: number[][] = files.map(() => [])
  for (const [place, links] of files.entries()) {
    await turns.pause()
    const near = new Set(links.flatMap((link) => index.near([link.packagePath, ...link.references])))
    const found = [...near].filter((other) => other !== place && isAnyDependent(links, files[other] ?? []))
    needs.push(found)
    for (const other of found) users[other]?.push(place)
  }
  return { needs, users }
}

/** Adds to places all that can be reached from one of these. */
export function addReachable(found: Set<number>, from: Places, edges: readonly Places[]): void {
  const open = from.filter((place) => !found.has(place))
  for (const place of open) found.add(place)
  for (const place of open)
    for (const next of edges[place] ?? []) {
      if (found.has(next)) continue
      found.add(next)
      open.push(next)
    }
}

function isAnyDependent(dependents: readonly ModuleLinks[], on: readonly ModuleLinks[]): boolean {
  return dependents.some((one) => on.some((other) => dependsOn(one, other)))
}

/** Files by their packages, so that not each has to be held against each. */
class PackageIndex {
  /** Those of a package, and those of it and of all packages below it. */
  readonly #of = new Map<string, number[]>()
  readonly #below = new Map<string, number[]>()

  add(packagePath: readonly string[], place: number): void {
    append(this.#of, pathKey(packagePath), place)
    for (let length = 0; length <= packagePath.length; length += 1)
      append(this.#below, pathKey(packagePath.slice(0, length)), place)
  }

  /** The files of packages that one of the paths leads to or through, or that are below one: those that `dependsOn` may hold for. */
  near(paths: readonly (readonly string[])[]): number[] {
    return paths.flatMap((path) => [
      ...(this.#below.get(pathKey(path)) ?? []),
      ...path.flatMap((_, length) => this.#of.get(pathKey(path.slice(0, length))) ?? []),
    ])
  }
}

function append(lists: Map<string, number[]>, key: string, place: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [place])
  else list.push(place)
}
