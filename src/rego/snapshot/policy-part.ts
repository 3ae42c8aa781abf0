import type { LeftOutFiles } from '../compile/collect-sources.js'
import type { RegoFile } from '../modules/rego-module.js'
import type { BaseDocument } from '../data/base-document.js'
import type { EntrypointKind, RegoModule } from '../modules/rego-module.js'
import type { RegoObject } from '../values/value.js'

/** A compiled module of a part, and what of it is asked. */
export interface PartModule {
  readonly wasm: Uint8Array
  /** The key of the path of `data` that an entrypoint of the module answers. */
  readonly keyOf: (entrypoint: string) => string
  /** Whether it is asked for what a key names: OPA adds entrypoints of its own. */
  readonly isAskedFor: (key: string) => boolean
}

/** One directory set or bundle, before it is loaded. */
export interface PolicyPart {
  readonly name: string
  /** The directories or the bundle, as configured. */
  readonly paths: readonly string[]
  readonly revision: string
  /** Undefined where there are no rules. */
  readonly compiled: PartModule | undefined
  readonly data: RegoObject
  /** The documents that the data is merged from. */
  readonly documents: readonly BaseDocument[]
  /** The paths of `data` that a bundle says are its alone, joined with `/`; absent where packages and data are what tells. */
  readonly roots?: readonly string[]
  readonly packages: readonly (readonly string[])[]
  readonly rego: readonly RegoFile[]
  /** The modules as they were written; of a bundle those that it holds, as far as their text tells. */
  readonly modules: readonly RegoModule[]
  /** What stands beside them and does not serve; absent of a bundle. */
  readonly leftOut?: LeftOutFiles
  /** The keys of the paths that the compiled module must answer: its rules, or what the manifest of a bundle names. */
  readonly expectedEntrypoints: readonly string[]
  /** The paths of its packages, those without rules too, and of the documents above and below them that hold rules. */
  readonly documentPaths: readonly (readonly string[])[]
  /** Whether the part tells all its packages: a bundle without Rego and without notes of ours does not. */
  readonly listsPackages: boolean
  /** The source file behind a name that the compiled module uses in its errors; undefined where it uses no such name. */
  readonly sourceFile: (compiledName: string) => string | undefined
  /** What the path of a key is; a bundle made elsewhere does not tell, and its own are taken as rules. */
  readonly kindOf: (key: string) => EntrypointKind
  /** Whether a path is known to be a rule, so that no data may stand there. */
  readonly isRule: (path: readonly string[]) => boolean
}
