import type { Builtins } from '../builtins/shared/builtin.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { DataImage } from '../wasm/data/data-image.js'
import type { EvaluationLimits } from '../wasm/evaluation-limits.js'
import type { ModuleParts } from '../wasm/policy-module.js'
import { packSnapshot, unpackSnapshot } from './packed-snapshot.js'
import type { PackedSnapshot } from './packed-snapshot.js'

/** Where it arrives, nobody sends it on. */
const NONE = new Uint8Array()

/** A packed snapshot for another process, which shares neither code nor memory: the code as bytes, the base documents on their own. */
export interface PortableSnapshot extends Omit<PackedSnapshot, 'modules' | 'image'> {
  readonly modules: readonly Omit<ModuleParts, 'module' | 'data'>[]
}

/** What another process makes the same snapshot of, together with its image. */
export function toPortable(snapshot: Snapshot): PortableSnapshot {
  const { revision, composed, entrypoints, packages, unanswered, baseDenials, modules } =
    packSnapshot(snapshot)
  return {
    revision,
    composed,
    entrypoints,
    packages,
    unanswered,
    baseDenials,
    modules: modules.map(({ bytes, minimumPages, wrappedBuiltins, rules, readsDirectly }) => ({
      bytes,
      minimumPages,
      wrappedBuiltins,
      rules,
      readsDirectly,
    })),
  }
}

/** The snapshot that came from another process, ready to be asked in this one. Errors are not located: that is for where its sources are. */
export async function fromPortable(
  { modules, ...rest }: PortableSnapshot,
  image: DataImage,
  builtins: Builtins,
  limits: EvaluationLimits,
): Promise<Snapshot> {
  const compiled = await Promise.all(
    modules.map(async ({ bytes, ...parts }) => {
      const module = await WebAssembly.compile(new Uint8Array(bytes))
      return { ...parts, module, bytes: NONE, data: image }
    }),
  )
  return await unpackSnapshot({ ...rest, modules: compiled, image }, builtins, limits)
}
