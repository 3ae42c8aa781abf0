import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { RegoModule } from '../compile/rego-module.js'
import { addReachable, findLinkGraph } from './link-graph.js'
import type { LinkGraph } from './link-graph.js'
import { linksOf } from './module-links.js'
import type { ModuleLinks } from './module-links.js'

/** What has to be compiled again of modules that were compiled together. */
export interface ModuleChanges {
  /** The modules as they were whose code does not hold any more. */
  readonly before: readonly RegoModule[]
  /** The modules that are in their place. */
  readonly groups: readonly ModuleGroup[]
}

/** What is compiled to one module. */
export interface ModuleGroup {
  readonly now: readonly RegoModule[]
  /** These with the modules that they need to be compiled, in the order of all. */
  readonly compiled: readonly RegoModule[]
}

/** How much is compiled at once. */
export interface ChangeLimits {
  /** More files are several groups. */
  readonly filesOfGroup: number
  readonly groups: number
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
 * depend on them, directly or through others, in groups that hold what they need. Undefined where compiling all together is hardly more than that.
 */
export async function findChanges(
  before: readonly RegoModule[],
  now: readonly RegoModule[],
  limits: ChangeLimits,
): Promise<ModuleChanges | undefined> {
  const turns = new ShortTurns()
  const files = await versionsByFile(before, now, turns)
  const graph = await findLinkGraph(
    files.map(({ links }) => links),
    turns,
  )
  const stale = new Set<number>()
  addReachable(
    stale,
    files.flatMap(({ isChanged }, place) => (isChanged ? [place] : [])),
    graph.users,
  )
  await turns.pause()
  const present = [...stale].filter((place) => files[place]?.now !== undefined)
  const groups = groupPlaces(present.sort(byNumber), graph, limits)
  const compiled = groups.reduce((sum, group) => sum + group.compiled.size, 0)
  if (compiled > mostCompiled(files.length, groups.length)) return undefined
  const modulesAt = (places: readonly number[], key: 'before' | 'now'): RegoModule[] =>
    places.flatMap((place) => files[place]?.[key] ?? [])
  return {
    before: modulesAt([...stale], 'before'),
    groups: groups.map((group) => {
      const all = new Set(modulesAt([...group.compiled], 'now'))
      return { now: modulesAt(group.now, 'now'), compiled: now.filter((module) => all.has(module)) }
    }),
  }
}

const byNumber = (one: number, other: number): number => one - other

/** In one piece there is little to gain, once it is most of all; pieces are compiled side by side, and OPA takes less for each than for a part of all. */
function mostCompiled(files: number, groups: number): number {
  return groups > 1 ? files * 1.5 : Math.max(100, files / 2)
}

async function versionsByFile(
  before: readonly RegoModule[],
  now: readonly RegoModule[],
  turns: ShortTurns,
): Promise<FileVersions[]> {
  const earlier = new Map(before.map((module) => [module.file, module]))
  const later = new Map(now.map((module) => [module.file, module]))
  const files: FileVersions[] = []
  for (const file of new Set([...earlier.keys(), ...later.keys()])) {
    await turns.pause()
    const [old, current] = [earlier.get(file), later.get(file)]
    const isChanged = old?.text !== current?.text || old?.version !== current?.version
    const modules = isChanged ? [old, current] : [current]
    const links = modules.flatMap((module) => (module === undefined ? [] : [linksOf(module)]))
    files.push({ before: old, now: current, isChanged, links })
  }
  return files
}

/** Neighbours in one group, with all that they need; what many need is in several. */
function groupPlaces(
  stale: readonly number[],
  { needs }: LinkGraph,
  limits: ChangeLimits,
): { readonly now: readonly number[]; readonly compiled: ReadonlySet<number> }[] {
  const count = Math.min(limits.groups, Math.ceil(stale.length / limits.filesOfGroup))
  const size = Math.ceil(stale.length / count)
  return Array.from({ length: count }, (_, group) => {
    const now = stale.slice(group * size, (group + 1) * size)
    const compiled = new Set<number>()
    addReachable(compiled, now, needs)
    return { now, compiled }
  })
}
