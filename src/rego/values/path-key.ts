/**
 * Returns a unique key for a path of `data`: the segments joined with `/`, with `%25` for `%`,
 * `%2F` for `/`, and `%` for an empty segment. The key of a path without special characters is its
 * Data API path.
 */
export function pathKey(path: readonly string[]): string {
  return path.map(escapeSegment).join('/')
}

/** Returns the path of a key. */
export function pathOfKey(key: string): string[] {
  return key === '' ? [] : key.split('/').map(unescapeSegment)
}

/** Returns the paths without duplicates, in order of first occurrence. */
export function distinctPaths<Path extends readonly string[]>(paths: readonly Path[]): Path[] {
  return [...new Map(paths.map((path) => [pathKey(path), path])).values()]
}

function escapeSegment(segment: string): string {
  if (segment === '') return '%'
  return segment.includes('%') || segment.includes('/')
    ? segment.replaceAll('%', '%25').replaceAll('/', '%2F')
    : segment
}

function unescapeSegment(escaped: string): string {
  if (escaped === '%') return ''
  return escaped.includes('%') ? escaped.replaceAll('%2F', '/').replaceAll('%25', '%') : escaped
}
