import { AppError } from '../../errors/app-error.js'
import { isRootOver, ownedRoots } from '../archive/roots.js'
import { findConflict } from '../data/data-conflicts.js'
import { dataOverRule, dataOverRules } from '../compile/refuse-data-over-rules.js'
import type { PathOwner, PolicyPart } from '../snapshot/policy-part.js'

/** Raises `invalid`, naming both parts, if two parts own the same path. */
export function refuseSharedRoots(parts: readonly PolicyPart[]): void {
  // Ownership of the root would require reading all members of `data`.
  if (parts.length < 2 && parts[0]?.owners === undefined) return
  const owned = parts.flatMap(ownersOf)
  const details = owned.flatMap((part, index) =>
    owned.slice(index + 1).flatMap((other) => {
      const shared = findShared(part.roots, other.roots)
      if (shared === undefined) return []
      const message = `${part.name} owns '${shared[0]}' and ${other.name} owns '${shared[1]}'`
      return [{ code: 'overlapping_roots', message }]
    }),
  )
  if (details.length === 0) return
  const pairs = details.map(({ message }) => message).join('; ')
  throw new AppError(
    'invalid',
    `the loaded policy sets own the same paths: ${pairs}: load only one of them, or give their manifests roots apart from each other`,
    { code: 'overlapping_roots', details },
  )
}

function ownersOf({ name, packages, data, roots, owners }: PolicyPart): readonly PathOwner[] {
  return owners ?? [{ name, roots: roots ?? ownedRoots(packages, data) }]
}

function findShared(roots: readonly string[], others: readonly string[]): [string, string] | undefined {
  for (const root of roots) {
    const other = others.find((path) => isRootOver(root, path) || isRootOver(path, root))
    if (other !== undefined) return [root, other]
  }
  return undefined
}

/** Raises `invalid`, naming both parts, if the data of one has a value at a rule of another. */
export function refuseDataOverEntrypoints(
  parts: readonly PolicyPart[],
  entrypoints: readonly { readonly path: readonly string[] }[],
): void {
  const documents = parts.flatMap((part) => part.documents)
  if (documents.length === 0) return
  const details = entrypoints.flatMap(({ path }) => {
    const holder = parts.find(({ isRule }) => isRule(path))
    const document = holder === undefined ? undefined : findConflict(documents, path)
    if (holder === undefined || document === undefined) return []
    const { code, message } = dataOverRule(path, document.file)
    return [{ code, message: `${message} (the rule is in ${holder.name})` }]
  })
  if (details.length > 0) throw dataOverRules(details)
}
