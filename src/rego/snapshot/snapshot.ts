import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import type { EntrypointKind } from '../modules/rego-module.js'
import { pathKey } from '../values/path-key.js'
import type { RegoObject } from '../values/value.js'
import type { DataImage } from '../wasm/data/data-image.js'
import type { Caller } from '../wasm/module/evaluation-abort.js'
import type { PolicyModule } from '../wasm/policy-module.js'

/** An entrypoint of one of the loaded modules. */
export interface Entrypoint {
  readonly path: readonly string[]
  readonly kind: EntrypointKind
  readonly module: PolicyModule
  readonly number: number
  /** What a document is put together from that the module has no code for. */
  readonly parts?: ComposedParts
}

/** The paths of the documents below a document, and the rules below it. */
export interface ComposedParts {
  readonly documents: readonly (readonly string[])[]
  readonly rules: readonly Entrypoint[]
  /** The modules of the policy set, to which all its rules belong. */
  readonly modules: ReadonlySet<PolicyModule>
}

/** A directory set or a bundle that is part of a snapshot. */
export interface SnapshotSource {
  /** As callers may read it (`publicNames`). */
  readonly name: string
  readonly revision: string
}

/** A file of Rego. */
export interface SourceText {
  /** As callers may read it. */
  readonly file: string
  readonly text: string
}

/** A loaded set of policies: immutable. A reload makes a new one; requests keep the one they started with. */
export interface Snapshot {
  /** One text for all sources together. */
  readonly revision: string
  readonly sources: readonly SnapshotSource[]
  /** By the key of the path; the empty path is the root. More than one where several modules hold a document. */
  readonly entrypoints: ReadonlyMap<string, readonly Entrypoint[]>
  /** The keys of the package paths below `data`, sorted, each once. */
  readonly packages: readonly string[]
  /** The keys of packages with verdict rules that no entrypoint answers: they cannot be asked. */
  readonly unanswered: ReadonlySet<string>
  /** By the key of a package: what base documents beside its rules say against everything. */
  readonly baseDenials: ReadonlyMap<string, readonly string[]>
  /** The base documents, of which only what is looked at is read. */
  readonly data: RegoObject
  /** The same as modules work with them. */
  readonly image: DataImage
  /** What is wrong with the policies though they load: data that nothing defines, rules that are no verdict. */
  readonly warnings: readonly ErrorDetail[]
  /** The source file, as its reader may see it, behind the name in an error location, and the line with which the definition there begins. */
  readonly locateSource: (compiledName: string, row: number) => { file: string; head: string | undefined }
  /** The files of a package, by its key, as far as their Rego is at hand. */
  readonly sourcesOf: (key: string) => readonly SourceText[]
  /** Where a built-in was called from, as far as the sources are at hand and tell. */
  readonly locateBuiltin: (name: string, caller: Caller | undefined) => ErrorDetail['location']
}

/** The entrypoints of all modules by the key of their path. Raises `invalid` where two modules hold the same rule. */
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
