import { basename, isAbsolute, relative, resolve, sep } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { withWrittenIds, writtenId } from '../writing/written-policies.js'

/** Names of policy locations for callers, without paths of the server. */
export interface PublicNames {
  /** The shortest unique end of a directory's or bundle's path. */
  readonly root: (root: string) => string
  /**
   * A policy file: its path below the only directory, else prefixed with the name of its directory
   * or bundle. A policy that a client wrote has its id.
   */
  readonly file: (file: string) => string
  /** Replaces the absolute paths of directories and bundles, and written policies, by their names. */
  readonly text: (text: string) => string
}

/** Returns the public names of policy directories and bundles. */
export function publicNames(directories: readonly string[], bundles: readonly string[]): PublicNames {
  const roots = [...directories, ...bundles]
  const names = new Map(roots.map((root) => [root, shortName(root, roots)]))
  const root = (path: string): string => names.get(path) ?? basename(path)
  const isPlain = directories.length === 1 && bundles.length === 0
  return {
    root,
    file: (file) => {
      const id = writtenId(file)
      if (id !== undefined) return id
      const above = roots.find((candidate) => belowRoot(candidate, file) !== undefined)
      if (above === undefined) return slashed(roots.includes(file) ? root(file) : basename(file))
      const below = belowRoot(above, file) ?? ''
      return slashed(isPlain ? below : `${root(above)}/${below}`)
    },
    text: (text) =>
      longestFirst(roots).reduce(
        (left, path) => left.replaceAll(resolve(path), root(path)),
        withWrittenIds(text),
      ),
  }
}

/**
 * Returns names of files for digests of policies: equal files have equal names wherever their
 * directories and bundles are.
 */
export function namesWithoutPlace(roots: readonly string[]): (file: string) => string {
  return (file) => {
    const place = roots.findIndex((root) => root === file || belowRoot(root, file) !== undefined)
    const root = roots[place]
    if (root === undefined) return file
    const below = belowRoot(root, file) ?? basename(file)
    return slashed(roots.length === 1 ? below : `${place}/${below}`)
  }
}

/** Returns a problem with public names of files in its location and message. */
export function publicDetail({ location, ...detail }: ErrorDetail, names: PublicNames): ErrorDetail {
  const shown = { ...detail, message: names.text(detail.message) }
  return location === undefined
    ? shown
    : { ...shown, location: { ...location, file: names.file(location.file) } }
}

/** Returns an error without paths of the server. */
export function withPublicNames(error: AppError, names: PublicNames): AppError {
  const details = error.details.map((detail) => publicDetail(detail, names))
  const { kind, code, retryAfterSeconds, message } = error
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return new AppError(kind, names.text(message), { code, details, cause: error, ...retry })
}

function shortName(root: string, roots: readonly string[]): string {
  const others = roots.map((path) => resolve(path)).filter((path) => path !== resolve(root))
  const segments = resolve(root).split(sep)
  for (let length = 1; length < segments.length; length++) {
    const end = segments.slice(-length).join(sep)
    if (!others.some((path) => path.endsWith(`${sep}${end}`))) return slashed(end)
  }
  return basename(root)
}

function belowRoot(root: string, file: string): string | undefined {
  const below = relative(root, file)
  return below === '' || below.split(sep)[0] === '..' || isAbsolute(below) ? undefined : below
}

/**
 * Inner directories are replaced before outer ones. The root `/` is skipped, since it is in every
 * path.
 */
function longestFirst(roots: readonly string[]): readonly string[] {
  return roots.filter((path) => resolve(path) !== sep).sort((a, b) => resolve(b).length - resolve(a).length)
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/')
}
