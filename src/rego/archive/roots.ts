import { pathKey } from '../values/path-key.js'
import { printJson } from '../values/print-text.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

const SPELLABLE = /^[^/%\s]+$/

/** Whether a path of `data` (its key) is the root, or below it; the empty root is over everything. */
export function isRootOver(root: string, path: string): boolean {
  return root === '' || path === root || path.startsWith(`${root}/`)
}

/** Whether one of the roots is over a path: looks at what is above the path, not at all roots. */
export function isOwned(roots: ReadonlySet<string>, path: string): boolean {
  return roots.has(path) || isBelowOne(roots, path)
}

/** Whether no root is over another one, or given twice. */
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

/** Whether one of the roots is below a path. */
export function isAboveRoot(roots: readonly string[], path: string): boolean {
  return roots.some((root) => isRootOver(path, root))
}

/** The first path at which data is outside of the roots; an object above a root is only the way to it. */
export function findDataOutside(roots: readonly string[], data: RegoObject): string | undefined {
  return findOutside({ roots, known: new Set(roots) }, () => data, '')
}

/** What is owned is not read: it may be large. */
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
 * The roots that packages and data come to: each package, and each place where the data leads away from all packages. None is
 * below another.
 */
export function ownedRoots(packages: readonly (readonly string[])[], data: RegoObject): string[] {
  const paths = packages.map((path) => pathKey(spellable(path)))
  const roots = new Set([...paths, ...dataRoots({ paths, known: new Set(paths) }, data, '')])
  return [...roots].filter((root) => !isBelowOne(roots, root)).sort()
}

/** The front of a path that is spelt alike wherever roots are read: a slash inside a segment is not. */
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

/** A key that is no text has one all the same: that of the answers. */
function keyText(key: RegoValue): string {
  return typeof key === 'string' ? key : printJson(key)
}

function join(path: string, key: string): string {
  const segment = pathKey([key])
  return path === '' ? segment : `${path}/${segment}`
}
