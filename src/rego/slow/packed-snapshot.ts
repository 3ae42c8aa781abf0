import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { Builtins } from '../builtins/shared/builtin.js'
import type { EntrypointKind } from '../modules/rego-module.js'
import { composeEntrypoints } from '../snapshot/composed-documents.js'
import { groupByPath } from '../snapshot/snapshot.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { dataOf } from '../wasm/data/data-image.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import { PolicyModule } from '../wasm/policy-module.js'
import type { ModuleParts } from '../wasm/policy-module.js'

/**
 * A snapshot as plain data for another thread, without Rego. The sender adds source locations to
 * errors.
 */
export interface PackedSnapshot {
  readonly revision: string
  readonly sources: Snapshot['sources']
  readonly modules: readonly ModuleParts[]
  /** The module indices of each policy set whose documents are composed from rules. */
  readonly composed: readonly (readonly number[])[]
  readonly entrypoints: readonly PackedEntrypoint[]
  readonly packages: readonly string[]
  readonly unanswered: Snapshot['unanswered']
  readonly baseDenials: Snapshot['baseDenials']
  readonly declaredLevels: Snapshot['declaredLevels']
  /** The base documents, in shared memory. */
  readonly image: Snapshot['image']
}

interface PackedEntrypoint {
  readonly path: readonly string[]
  readonly kind: EntrypointKind
  /** Undefined for a composed document. */
  readonly number: number | undefined
  /** The index of its module. */
  readonly module: number
}

const packed = new WeakMap<Snapshot, PackedSnapshot>()

/** Packs a snapshot once. All threads then share its code and data. */
export function packSnapshot(snapshot: Snapshot): PackedSnapshot {
  const known = packed.get(snapshot) ?? pack(snapshot)
  packed.set(snapshot, known)
  return known
}

function pack(snapshot: Snapshot): PackedSnapshot {
  const entrypoints = [...snapshot.entrypoints.values()].flat()
  const modules = [...new Set(entrypoints.map(({ module }) => module))]
  const places = new Map(modules.map((module, place) => [module, place]))
  const sets = new Set(entrypoints.flatMap(({ parts }) => parts?.modules ?? []))
  const placeOf = (module: PolicyModule): number => places.get(module) ?? 0
  return {
    revision: snapshot.revision,
    sources: snapshot.sources,
    modules: modules.map(({ parts }) => parts),
    composed: [...sets].map((set) => [...set].map(placeOf)),
    entrypoints: entrypoints.map(({ path, kind, number, module, parts }) => ({
      path,
      kind,
      number: parts === undefined ? number : undefined,
      module: placeOf(module),
    })),
    packages: snapshot.packages,
    unanswered: snapshot.unanswered,
    baseDenials: snapshot.baseDenials,
    declaredLevels: snapshot.declaredLevels,
    image: snapshot.image,
  }
}

/** Restores a packed snapshot in this thread. */
export async function unpackSnapshot(
  { modules, ...rest }: PackedSnapshot,
  builtins: Builtins,
  limits: EvaluationLimits,
): Promise<Snapshot> {
  const options = { builtins: builtins.table, limits }
  const made = await Promise.all(modules.map((parts) => PolicyModule.fromParts(parts, options)))
  return await assembleSnapshot(rest, made, builtins)
}

/** Restores a packed snapshot with the given modules, in order. */
export async function assembleSnapshot(
  { composed, entrypoints, image, ...rest }: Omit<PackedSnapshot, 'modules'>,
  made: readonly PolicyModule[],
  builtins: Builtins,
): Promise<Snapshot> {
  for (const { hostedBuiltins } of made) await builtins.prepare(hostedBuiltins)
  const turns = new ShortTurns()
  await turns.pause()
  const coded = made.flatMap((module, place) =>
    entrypoints.flatMap(({ path, kind, number, module: of }) =>
      of === place && number !== undefined ? [{ path, kind, number, module }] : [],
    ),
  )
  await turns.pause()
  const put = composed.flatMap((places) => {
    const documents = entrypoints.filter(
      ({ module, number }) => number === undefined && places.includes(module),
    )
    const [first, ...others] = places.flatMap((place) => made[place] ?? [])
    if (first === undefined) return []
    const rules = coded.filter(({ module }) => module === first || others.includes(module))
    return composeEntrypoints(
      first,
      documents.map(({ path }) => path),
      rules,
    )
  })
  await turns.pause()
  const grouped = groupByPath([...coded, ...put])
  await turns.pause()
  return {
    ...rest,
    entrypoints: grouped,
    warnings: [],
    image,
    data: dataOf(image),
    rego: [],
    withoutRego: [],
    sourcesOf: () => [],
    locateSource: (file) => ({ file, head: undefined }),
    locateBuiltin: () => undefined,
  }
}
