import type { RegoModule } from '../compile/rego-module.js'
import { dependsOn, linksOf } from './module-links.js'
import type { ModuleLinks } from './module-links.js'

/** What has to be compiled again of modules that were compiled together. */
export interface ModuleChanges {
  /** The modules as they were whose code does not hold any more. */
  readonly before: readonly RegoModule[]
  /** The modules that are in their place. */
  readonly now: readonly RegoModule[]
  /** These with the modules that they need to be compiled, in the order of all. */
  readonly compiled: readonly RegoModule[]
}

/** The modules of a file as it was and as it is. */
interface FileVersions {
  readonly before: RegoModule | undefined
  readonly now: RegoModule | undefined
  readonly links: readonly ModuleLinks[]
  readonly isChanged: boolean
}

/**
 * What has changed between two versions of policies: the modules of files that are new, gone or different, and all whose code may
 * depend on them, directly or through others. Undefined where that, with what is needed beside it, is more than `most` files.
 */
export function findChanges(
  before: readonly RegoModule[],
  now: readonly RegoModule[],
  most: number,
): ModuleChanges | undefined {
  const files = versionsByFile(before, now)
  const changed = files.filter(({ isChanged }) => isChanged)
  const stale = withAllThat(files, changed, most, (file, of) => isAnyDependent(file.links, of.links))
  if (stale === undefined) return undefined
  const compiled = withAllThat(files, [...stale], most, (file, of) => isAnyDependent(of.links, file.links))
  if (compiled === undefined) return undefined
  const compiledFiles = new Set([...compiled].flatMap((file) => file.now?.file ?? []))
  return {
    before: [...stale].flatMap((file) => file.before ?? []),
    now: [...stale].flatMap((file) => file.now ?? []),
    compiled: now.filter(({ file }) => compiledFiles.has(file)),
  }
}

function versionsByFile(before: readonly RegoModule[], now: readonly RegoModule[]): FileVersions[] {
  const earlier = new Map(before.map((module) => [module.file, module]))
  const later = new Map(now.map((module) => [module.file, module]))
  return [...new Set([...earlier.keys(), ...later.keys()])].map((file) => {
    const [old, current] = [earlier.get(file), later.get(file)]
    const isChanged = old?.text !== current?.text || old?.version !== current?.version
    const modules = isChanged ? [old, current] : [current]
    return {
      before: old,
      now: current,
      isChanged,
      links: modules.flatMap((module) => (module === undefined ? [] : [linksOf(module)])),
    }
  })
}

/** The given files and all others that are linked to one of the result; undefined where they are more than `most`. */
function withAllThat(
  files: readonly FileVersions[],
  given: readonly FileVersions[],
  most: number,
  isLinked: (file: FileVersions, of: FileVersions) => boolean,
): ReadonlySet<FileVersions> | undefined {
  const found = new Set(given)
  for (const of of found) {
    if (found.size > most) return undefined
    for (const file of files) if (!found.has(file) && isLinked(file, of)) found.add(file)
  }
  return found.size > most ? undefined : found
}

function isAnyDependent(dependents: readonly ModuleLinks[], on: readonly ModuleLinks[]): boolean {
  return dependents.some((one) => on.some((other) => dependsOn(one, other)))
}
