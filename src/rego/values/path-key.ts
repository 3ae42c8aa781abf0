/**
 * One text for a path of `data`, another one for every other path: its segments joined with `/`, in which `%` is `%25`,
 * `/` is `%2F`, and an empty segment is a lone `%`. The key of a path that has nothing odd is what one asks the Data API.
 */
export function pathKey(path: readonly string[]): string {
  return path.map(escapeSegment).join('/')
}

/** The path behind a key. */
export function pathOfKey(key: string): string[] {
  return key === '' ? [] : key.split('/').map(unescapeSegment)
}

/** Each path once, where it stands first. */
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
