import { AppError } from '../../errors/app-error.js'
import type { RegoVersion } from '../opa/opa-release.js'
import { pathKey } from '../values/path-key.js'
import type { RegoObject } from '../values/value.js'
import type { WrittenPolicies } from './written-policies.js'

/** The policies and data of a snapshot that clients may write. */
export interface StoredPolicies {
  readonly modules: readonly StoredModule[]
  readonly bundles: readonly StoredBundle[]
  /** The ids of the policies of files, including those that written ones replace. */
  readonly fileIds: ReadonlySet<string>
  /** The base documents without those that clients wrote. */
  readonly fileData: RegoObject
}

/** A module as clients read it. */
export interface StoredModule {
  /** The id of a written policy, or the public name of a file. */
  readonly id: string
  readonly text: string
  readonly version: RegoVersion
  readonly packagePath: readonly string[]
}

/** A bundle, whose roots nobody else may write. */
export interface StoredBundle {
  readonly name: string
  /** Keys of paths below `data`; an empty one is the root. */
  readonly roots: readonly string[]
}

/** Raises `invalid` if a bundle owns the path, or a path above or below it. */
export function refuseOwned(path: readonly string[], { bundles }: StoredPolicies): void {
  const key = pathKey(path)
  for (const { name, roots } of bundles) {
    if (roots.includes('')) throw new AppError('invalid', `all paths owned by bundle "${name}"`)
    if (key === '') throw new AppError('invalid', "can't write to document root with bundle roots configured")
    if (roots.some((root) => `${key}/`.startsWith(`${root}/`) || root.startsWith(`${key}/`)))
      throw new AppError('invalid', `path ${key} is owned by bundle "${name}"`)
  }
}

/** Returns the written policies with a policy put in place of any other with its id. */
export function putModule(written: WrittenPolicies, id: string, text: string): WrittenPolicies {
  return { ...written, modules: new Map(written.modules).set(id, text) }
}

/** Returns the written policies without a policy, which must exist. */
export function deleteModule(
  written: WrittenPolicies,
  id: string,
  { fileIds }: StoredPolicies,
): WrittenPolicies {
  const modules = new Map(written.modules)
  if (fileIds.has(id)) modules.set(id, undefined)
  else modules.delete(id)
  return { ...written, modules }
}

/** Returns a policy by its id. Raises `not_found`, in OPA's words. */
export function findModule({ modules }: StoredPolicies, id: string): StoredModule {
  const found = modules.find((module) => module.id === id)
  if (found === undefined)
    throw new AppError('not_found', `storage_not_found_error: policy id ${JSON.stringify(id)}`)
  return found
}
