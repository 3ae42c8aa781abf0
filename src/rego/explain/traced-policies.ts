import { inGroups } from '../../lib/turns/in-groups.js'
import { buildModule } from '../compile/build-module.js'
import type { BuildModule } from '../compile/build-module.js'
import type { DataFile } from '../data/load-data.js'
import { loadSnapshot } from '../loading/load-snapshot.js'
import type { LoadOptions } from '../loading/load-snapshot.js'
import type { RegoFile, RegoModule } from '../modules/rego-module.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { pathKey } from '../values/path-key.js'
import { selectModules } from './select-modules.js'
import { parseTree } from './syntax-tree.js'
import type { Labels } from './syntax-tree.js'
import { labelsOnly, traceModule } from './trace-module.js'
import type { TracedDefinition } from './traced-body.js'

/** Policies with markers, and what the markers stand for. */
export interface TracedPolicies {
  readonly snapshot: Snapshot
  readonly definitions: readonly TracedDefinition[]
  /** Labels of packages by key. */
  readonly packageLabels: ReadonlyMap<string, Labels>
  readonly sources: ReadonlyMap<string, RegoFile>
}

/** The sources of a set of policies. */
export interface TraceableSources {
  readonly rego: readonly RegoFile[]
  readonly data: readonly DataFile[]
}

/** Markers need many times the budget of the policies. */
const BUDGET_FACTOR = 10

/**
 * Compiles the packages at some paths, and those that they use, with markers. Raises as
 * `loadSnapshot`, and `invalid` for a module that cannot be traced.
 */
export async function loadTraced(
  { rego, data }: TraceableSources,
  paths: readonly (readonly string[])[],
  options: LoadOptions,
): Promise<TracedPolicies> {
  const selected = selectModules(rego, paths)
  const definitions: TracedDefinition[] = []
  const packageLabels = new Map<string, Labels>()
  const { limits } = options
  const sources = { rego: selected, data, leftOut: { rego: [], data: [] } }
  const snapshot = await loadSnapshot(
    { directories: [], bundles: [], sources },
    {
      ...options,
      limits: { ...limits, loopIterations: limits.loopIterations * BUDGET_FACTOR },
      buildModule: tracedBuild(definitions, packageLabels),
      // One entrypoint for all rules compiles fastest.
      maxEntrypoints: 0,
      showsWholePaths: true,
    },
  )
  return {
    snapshot,
    definitions,
    packageLabels,
    sources: new Map(selected.map((file) => [file.file, file])),
  }
}

/**
 * Returns a `buildModule` that compiles modules with markers. It lists what they stand for in
 * `definitions`.
 */
export function tracedBuild(
  definitions: TracedDefinition[],
  packageLabels: Map<string, Labels>,
): BuildModule {
  return async (opa, modules, keys, options) => {
    definitions.length = 0
    const marked = await markModules(opa, modules, definitions, packageLabels)
    return await buildModule(opa, marked, keys, { ...options, includesPrint: false })
  }
}

async function markModules(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  definitions: TracedDefinition[],
  packageLabels: Map<string, Labels>,
): Promise<RegoModule[]> {
  const trees = await inGroups(modules, (module) => parseTree(opa, module))
  const rulesOf = new Map<string, Set<string>>()
  for (const { packagePath, rules } of modules) {
    const names = rulesOf.get(pathKey(packagePath)) ?? new Set()
    rulesOf.set(pathKey(packagePath), names)
    for (const { path } of rules) names.add(path[0] ?? '')
  }
  return modules.map((module, place) => {
    const tree = trees[place]
    if (tree === undefined) return module
    const key = pathKey(module.packagePath)
    const labels = tree.annotations.find(({ scope }) => scope === 'package' || scope === 'subpackages')
    if (labels !== undefined) packageLabels.set(key, labelsOnly(labels))
    const marked = traceModule(module, tree, rulesOf.get(key) ?? new Set(), definitions.length)
    definitions.push(...marked.definitions)
    return marked.module
  })
}
