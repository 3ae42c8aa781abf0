import { basename, isAbsolute, relative } from 'node:path'

/** A policy file as callers may read it: below its directory or bundle, without where that stands on the server. */
export function fileBelow(roots: readonly string[], file: string): string {
  const below = roots
    .map((root) => relative(root, file))
    .find((path) => path !== '' && !path.startsWith('..') && !isAbsolute(path))
  return (below ?? basename(file)).replaceAll('\\', '/')
}
