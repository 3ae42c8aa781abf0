import { AppError } from '../../errors/app-error.js'
import type { RegoObject } from '../values/value.js'
import { pathKey } from '../values/path-key.js'
import type { BundleManifest } from '../archive/manifest.js'
import { findDataOutside, isAboveRoot, isOwned } from '../archive/roots.js'

/** The contents of a bundle that its roots must cover. */
export interface BundleContents {
  readonly packages: readonly (readonly string[])[]
  readonly data: RegoObject
}

/**
 * Raises `invalid`, listing everything, if a bundle has packages, entrypoints or data outside of
 * its roots.
 */
export function refuseOutsideRoots(
  bundle: string,
  { roots, entrypoints }: Pick<BundleManifest, 'roots' | 'entrypoints'>,
  { packages, data }: BundleContents,
): void {
  const paths = packages.map(pathKey)
  const known = new Set(roots)
  const outsideData = findDataOutside(roots, data)
  refuse(bundle, roots, [
    ...paths.filter((path) => !isOwned(known, path)).map((path) => `package ${path.replaceAll('/', '.')}`),
    ...entrypoints.filter((path) => !isOwned(known, path)).map((path) => `the entrypoint ${path}`),
    ...(outsideData === undefined ? [] : [`data at /${outsideData}`]),
  ])
}

/** Raises `invalid` for entrypoints outside of the roots. Documents above the roots are allowed. */
export function refuseEntrypointsOutsideRoots(
  bundle: string,
  roots: readonly string[],
  entrypoints: readonly { readonly path: readonly string[]; readonly kind: 'rule' | 'document' }[],
): void {
  const known = new Set(roots)
  const outside = entrypoints.filter(({ path, kind }) => {
    const text = pathKey(path)
    return !isOwned(known, text) && (kind === 'rule' || !isAboveRoot(roots, text))
  })
  refuse(
    bundle,
    roots,
    outside.map(({ path }) => `the entrypoint ${pathKey(path)}`),
  )
}

function refuse(bundle: string, roots: readonly string[], outside: readonly string[]): void {
  if (outside.length === 0) return
  const owned = roots.map((root) => `'${root}'`).join(', ') || 'none'
  throw new AppError(
    'invalid',
    `the bundle ${bundle} holds what its manifest's roots (${owned}) do not permit: ${[...new Set(outside)].join(', ')}`,
  )
}
