import { pathKey } from '../values/path-key.js'
import { printJson } from '../values/print-text.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

const SPELLABLE = /^[^/%\s]+$/

/** True if the key of a path is the root or below it. The empty root covers everything. */
export function isRootOver(root: string, path: string): boolean {
  return root === '' || path === root || path.startsWith(`${root}/`)
}

/** True if a root covers a path. Checks the path's ancestors, not every root. */
export function isOwned(roots: ReadonlySet<string>, path: string): boolean {
  return roots.has(path) || isBelowOne(roots, path)
}

/** True if no root covers another one and none is listed twice. */
export function areApart(roots: readonly string[]): boolean {
  const known = new Set(roots)
  return known.size === roots.length && !roots.some((root) => isBelowOne(known, root))
}

function isBelowOne(roots: ReadonlySet<string>, path: string): boolean {
  if (path !== '' && roots.has('')) return true
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (roots.has(path.slice(0, end))) return true
  return false
}

/** True if a root is below a path. */
export function isAboveRoot(roots: readonly string[], path: string): boolean {
  return roots.some((root) => isRootOver(path, root))
}

/** Returns the first path of data outside of the roots. Objects above a root are allowed. */
export function findDataOutside(roots: readonly string[], data: RegoObject): string | undefined {
  return findOutside({ roots, known: new Set(roots) }, () => data, '')
}

/** Data below a root is not read, because it may be large. */
function findOutside(
  owned: { readonly roots: readonly string[]; readonly known: ReadonlySet<string> },
  read: () => RegoValue | undefined,
  path: string,
): string | undefined {
  if (isOwned(owned.known, path)) return undefined
  const value = isAboveRoot(owned.roots, path) ? read() : undefined
  if (!(value instanceof RegoObject)) return path
  for (const key of value.keys) {
    const outside = findOutside(owned, () => value.get(key), join(path, keyText(key)))
    if (outside !== undefined) return outside
  }
  return undefined
}

/**
 * Returns the roots that cover packages and data: each package, and each path where data is outside
 * of all packages. No root is below another.
 */
export function ownedRoots(packages: readonly (readonly string[])[], data: RegoObject): string[] {
  const paths = packages.map((path) => pathKey(spellable(path)))
  const roots = new Set([...paths, ...dataRoots({ paths, known: new Set(paths) }, data, '')])
  return [...roots].filter((root) => !isBelowOne(roots, root)).sort()
}

/**
 * Returns the prefix of a path without slashes in its segments, which every reader of roots spells
 * alike.
 */
function spellable(path: readonly string[]): readonly string[] {
  const odd = path.findIndex((segment) => !SPELLABLE.test(segment))
  return odd === -1 ? path : path.slice(0, odd)
}

function dataRoots(
  packages: { readonly paths: readonly string[]; readonly known: ReadonlySet<string> },
  data: RegoObject,
  path: string,
): string[] {
  return data.keys.flatMap((rawKey) => {
    const key = keyText(rawKey)
    if (!SPELLABLE.test(key)) return [path]
    const below = join(path, key)
    if (isOwned(packages.known, below)) return []
    const member = isAboveRoot(packages.paths, below) ? data.get(rawKey) : undefined
    return member instanceof RegoObject ? dataRoots(packages, member, below) : [below]
  })
}

/** A key that is not a string gets the text that answers show. */
function keyText(key: RegoValue): string {
  return typeof key === 'string' ? key : printJson(key)
}

function join(path: string, key: string): string {
  const segment = pathKey([key])
  return path === '' ? segment : `${path}/${segment}`
}
