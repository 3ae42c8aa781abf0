import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import type { EntrypointKind, RegoFile, RegoModule } from '../modules/rego-module.js'
import type { StatedLevel } from '../values/level.js'
import { pathKey } from '../values/path-key.js'
import type { RegoObject } from '../values/value.js'
import type { DataImage } from '../wasm/data/data-image.js'
import type { Caller } from '../wasm/module/evaluation-abort.js'
import type { PolicyModule } from '../wasm/policy-module.js'
import type { StoredPolicies } from '../writing/stored-policies.js'

/** An entrypoint of one of the loaded modules. */
export interface Entrypoint {
  readonly path: readonly string[]
  readonly kind: EntrypointKind
  readonly module: PolicyModule
  readonly number: number
  /** The parts of a composed document, which the module has no code for. */
  readonly parts?: ComposedParts
}

/** The paths of documents and rules below a composed document. */
export interface ComposedParts {
  readonly documents: readonly (readonly string[])[]
  readonly rules: readonly Entrypoint[]
  /** The modules with all rules of the policy set. */
  readonly modules: ReadonlySet<PolicyModule>
}

/** A directory set or bundle of a snapshot. */
export interface SnapshotSource {
  /** The public name (`publicNames`). */
  readonly name: string
  readonly revision: string
  /** The id of the key that signed the bundle; absent without signature. */
  readonly signer?: string | undefined
}

/** A file of Rego. */
export interface SourceText {
  /** As callers may read it. */
  readonly file: string
  readonly text: string
}

/** A Rego file of a published bundle. */
export type PublishedModule = Pick<RegoModule, 'file' | 'text' | 'version'>

/** What a published bundle of a snapshot is made of. */
export type Publishable =
  | {
      readonly type: 'sources'
      readonly modules: readonly PublishedModule[]
      readonly roots: readonly string[]
    }
  /** The only bundle, which contains a compiled module. */
  | { readonly type: 'bundle'; readonly bytes: Uint8Array }
  /** Names of compiled bundles that cannot be combined with other policies. */
  | { readonly type: 'none'; readonly compiled: readonly string[] }

/**
 * A loaded set of policies, immutable. A reload creates a new one; requests keep the one they
 * started with.
 */
export interface Snapshot {
  /** A digest of all sources. */
  readonly revision: string
  readonly sources: readonly SnapshotSource[]
  /** Entrypoints by key; the empty path is the root. Several if several modules have a document. */
  readonly entrypoints: ReadonlyMap<string, readonly Entrypoint[]>
  /** The keys of the package paths below `data`, sorted, without duplicates. */
  readonly packages: readonly string[]
  /** The keys of packages with verdict rules without an entrypoint. They cannot be evaluated. */
  readonly unanswered: ReadonlySet<string>
  /** By package key: the denials that base documents next to its rules state. */
  readonly baseDenials: ReadonlyMap<string, readonly string[]>
  /** By package key: the levels that annotations declare. */
  readonly declaredLevels: ReadonlyMap<string, StatedLevel>
  /** The base documents, read lazily. */
  readonly data: RegoObject
  /** The base documents in the form that modules use. */
  readonly image: DataImage
  /** Mistakes in policies that load: undefined data, rules that resemble verdicts. */
  readonly warnings: readonly ErrorDetail[]
  /**
   * Returns the source file for a name in an error location, as its reader may see it, and the
   * first line of the definition at that line.
   */
  readonly locateSource: (compiledName: string, row: number) => { file: string; head: string | undefined }
  /** The Rego of all parts. Test files are excluded. */
  readonly rego: readonly RegoFile[]
  /** The public names of bundles without Rego, whose rules cannot be explained. */
  readonly withoutRego: readonly string[]
  /** What clients may write; undefined if they may not. */
  readonly stored?: StoredPolicies
  /** What others can download; undefined if nothing is published. */
  readonly publishable?: Publishable
  /** Returns the files of a package by its key, if their Rego is available. */
  readonly sourcesOf: (key: string) => readonly SourceText[]
  /** Returns the location of a built-in's call, if the sources are available and show it. */
  readonly locateBuiltin: (name: string, caller: Caller | undefined) => ErrorDetail['location']
}

/** Groups entrypoints of all modules by key. Raises `invalid` if two modules have the same rule. */
export function groupByPath(entrypoints: readonly Entrypoint[]): Map<string, Entrypoint[]> {
  const byPath = new Map<string, Entrypoint[]>()
  for (const entrypoint of entrypoints) {
    const path = pathKey(entrypoint.path)
    const present = byPath.get(path) ?? []
    const holder = present.find(({ kind }) => kind === 'rule')
    if (holder !== undefined && entrypoint.kind === 'rule') {
      throw new AppError(
        'invalid',
        `the rule ${path} is in two of the loaded policy sets: load only one of them`,
      )
    }
    byPath.set(path, [...present, entrypoint])
  }
  return byPath
}
