import { AppError } from '../../errors/app-error.js'
import type { Builtins } from '../builtins/shared/builtin.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { DataImage } from '../wasm/data/data-image.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import { PolicyModule } from '../wasm/policy-module.js'
import type { ModuleParts } from '../wasm/policy-module.js'
import { assembleSnapshot, packSnapshot } from './packed-snapshot.js'
import type { PackedSnapshot } from './packed-snapshot.js'

/** Absent at the receiver, which never sends it on. */
const NONE = new Uint8Array()

/** A module for another process, which shares neither code nor memory. */
export interface PortableModule {
  /** Equal numbers mean equal code. */
  readonly id: number
  /** Absent if the receiver has the code. */
  readonly code: Omit<ModuleParts, 'module' | 'data'> | undefined
}

/** A packed snapshot for another process: code as bytes, base documents separately. */
export interface PortableSnapshot extends Omit<PackedSnapshot, 'modules' | 'image'> {
  readonly modules: readonly PortableModule[]
}

/** Packs a snapshot for another process, together with its image. `idOf` numbers compiled code. */
export function toPortable(
  snapshot: Snapshot,
  idOf: (module: WebAssembly.Module) => number,
): PortableSnapshot {
  const {
    revision,
    sources,
    composed,
    entrypoints,
    packages,
    unanswered,
    baseDenials,
    declaredLevels,
    modules,
  } = packSnapshot(snapshot)
  return {
    ...{ revision, sources, composed, entrypoints, packages, unanswered, baseDenials, declaredLevels },
    modules: modules.map(
      ({ module, bytes, minimumPages, wrappedBuiltins, callSites, rules, readsDirectly }) => ({
        id: idOf(module),
        code: { bytes, minimumPages, wrappedBuiltins, callSites, rules, readsDirectly },
      }),
    ),
  }
}

/** Removes the modules that the receiver already has. */
export function withoutModules(
  { modules, ...rest }: PortableSnapshot,
  known: ReadonlySet<number>,
): PortableSnapshot {
  return {
    ...rest,
    modules: modules.map((module) => (known.has(module.id) ? { ...module, code: undefined } : module)),
  }
}

/**
 * Restores snapshots from another process. Modules and their instances are reused while consecutive
 * snapshots have them. Errors get no source locations here.
 */
export class ArrivingSnapshots {
  readonly #builtins: Builtins
  readonly #limits: EvaluationLimits
  #modules: ReadonlyMap<number, PolicyModule> = new Map()

  constructor(builtins: Builtins, limits: EvaluationLimits) {
    this.#builtins = builtins
    this.#limits = limits
  }

  /** Restores a snapshot. Raises if a module is missing that the previous snapshot lacks, too. */
  async take({ modules, ...rest }: PortableSnapshot, image: DataImage): Promise<Snapshot> {
    const options = { builtins: this.#builtins.table, limits: this.#limits }
    const known = this.#modules
    const made = new Map<number, PolicyModule>()
    for (const { id, code } of modules) {
      const before = known.get(id)
      const parts = before?.parts ?? (code && (await compile(code, image)))
      if (parts === undefined) throw new AppError('internal', `module ${id} is neither sent nor known`)
      const isSame = before !== undefined && parts.data === image
      made.set(id, isSame ? before : await PolicyModule.fromParts({ ...parts, data: image }, options))
    }
    this.#modules = made
    const placed = modules.flatMap(({ id }) => made.get(id) ?? [])
    return await assembleSnapshot({ ...rest, image }, placed, this.#builtins)
  }
}

async function compile(
  { bytes, ...parts }: NonNullable<PortableModule['code']>,
  data: DataImage,
): Promise<ModuleParts> {
  const module = await WebAssembly.compile(new Uint8Array(bytes))
  return { ...parts, module, bytes: NONE, data }
}
