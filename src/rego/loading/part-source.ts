import type { BundleFiles } from '../archive/read-bundle.js'
import type { UnpackedFiles } from '../archive/unpack-bundle.js'
import type { BundleVerification } from '../bundle/signing/verification.js'
import type { BuildModule } from '../compile/build-module.js'
import type { PolicySources } from '../compile/collect-sources.js'
import type { PartData } from '../data/base-document.js'
import type { DataFile } from '../data/load-data.js'
import type { OpaProgram } from '../opa/find-opa.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import type { WrittenPolicies } from '../writing/written-policies.js'

export interface PolicyLocations {
  /** Rego directories or files, compiled together. */
  readonly directories: readonly string[]
  /** OPA bundles (`.tar.gz`). Those without a `policy.wasm` are compiled with the directories. */
  readonly bundles: readonly string[]
  /** Bundles of sources, which errors and callers see by the names of their sources. */
  readonly downloads?: readonly DownloadedBundle[]
  readonly includeTests?: boolean
  /** As in `collectSources`. */
  readonly includesAllData?: boolean
  /** Files to compile instead of those of the directories. */
  readonly sources?: PolicySources
  /** The revision of these policies; that of their files by default. */
  readonly revision?: string
}

/** A bundle that a source downloaded to a file. */
export interface DownloadedBundle {
  readonly source: string
  readonly file: string
}

export interface ReadOptions {
  /** Finds the compiler. Called only if there is Rego to compile, or to check in a bundle. */
  readonly findOpa: () => Promise<OpaProgram>
  /**
   * Returns how to verify bundles; called only if there are any. Without it signed bundles are
   * refused.
   */
  readonly verification?: () => BundleVerification
  /** Largest number of entrypoints of a compiled module; `MAX_ENTRYPOINTS` by default. */
  readonly maxEntrypoints?: number
  /** True to describe a bundle that others can download (`Snapshot.publishable`). */
  readonly isPublished?: boolean | undefined
  /** True to compile calls of `print`. */
  readonly includesPrint?: boolean | undefined
  /** Builds the module; `buildModule` by default. */
  readonly buildModule?: BuildModule
  /** Policies and data that clients wrote; undefined if they may not write any. */
  readonly written?: WrittenPolicies | undefined
}

/** The files of a part. */
export interface PartSource {
  /** The data files of the directories and of each bundle. */
  readonly dataFiles: readonly (readonly DataFile[])[]
  /** The size of the policies in bytes: Rego text, or a compiled module. */
  readonly policyBytes: number
  /** The ids of the policies of directories, including those that written ones replace. */
  readonly fileIds?: readonly string[] | undefined
  /**
   * Compiles or checks the part with its data, in the order of `dataFiles`. Raises `invalid` with
   * every problem.
   */
  readonly toPart: (data: readonly PartData[]) => Promise<PolicyPart>
}

/** A verified bundle. */
export interface ReadBundle {
  /** The file, or the name of the source. */
  readonly name: string
  readonly bytes: Uint8Array
  readonly files: UnpackedFiles
  /** The id of the key that signed it; undefined without signature. */
  readonly signer: string | undefined
  readonly bundle: BundleFiles
}
