import type { LeftOutFiles } from '../compile/collect-sources.js'
import type { RegoFile } from '../modules/rego-module.js'
import type { BaseDocument } from '../data/base-document.js'
import type { EntrypointKind, RegoModule } from '../modules/rego-module.js'
import type { RegoObject } from '../values/value.js'

/** A compiled module of a part. */
export interface PartModule {
  readonly wasm: Uint8Array
  /** The key of the path of `data` that an entrypoint of the module answers. */
  readonly keyOf: (entrypoint: string) => string
  /** True for a key that is served. OPA adds entrypoints of its own. */
  readonly isServed: (key: string) => boolean
}

/** A directory set or bundle of a part. `paths` are as configured. */
export interface PartSourceRevision {
  readonly paths: readonly string[]
  readonly revision: string
  /** The id of the key that signed the bundle. */
  readonly signer?: string | undefined
}

/** A directory set or bundle with the paths of `data` that it owns, joined with `/`. */
export interface PathOwner {
  readonly name: string
  readonly roots: readonly string[]
}

/** Directories with the bundles that are compiled with them, or a compiled bundle, before loading. */
export interface PolicyPart {
  readonly name: string
  /** The directories, and the bundles, with their revisions. */
  readonly sources: readonly PartSourceRevision[]
  /** The owners of paths, if the part has several; otherwise the part owns its paths. */
  readonly owners?: readonly PathOwner[]
  /** Undefined without rules. */
  readonly compiled: PartModule | undefined
  /** A bundle with a compiled module as it was read, if it may be published. */
  readonly original?: Uint8Array
  readonly data: RegoObject
  /** The documents merged into the data. */
  readonly documents: readonly BaseDocument[]
  /**
   * The paths of `data` that a bundle owns, joined with `/`; absent if packages and data define
   * them.
   */
  readonly roots?: readonly string[]
  readonly packages: readonly (readonly string[])[]
  readonly rego: readonly RegoFile[]
  /** The modules as written; of a bundle those that it contains. */
  readonly modules: readonly RegoModule[]
  /** Files next to the modules that are not served; absent for a bundle. */
  readonly leftOut?: LeftOutFiles
  /** The keys that the module must answer: its rules, or the entrypoints in a bundle's manifest. */
  readonly expectedEntrypoints: readonly string[]
  /**
   * The paths of packages, including those without rules, and of the documents above and below
   * them.
   */
  readonly documentPaths: readonly (readonly string[])[]
  /**
   * True if all packages are known. False for a bundle without Rego and without notes of `tidegate
   * build`.
   */
  readonly listsPackages: boolean
  /** Returns the source file for a name in the module's errors, if known. */
  readonly sourceFile: (compiledName: string) => string | undefined
  /** Returns the kind of a path. Paths of bundles made by other programs count as rules. */
  readonly kindOf: (key: string) => EntrypointKind
  /** True if a path is known to be a rule, where no data may be. */
  readonly isRule: (path: readonly string[]) => boolean
}
