/** The path and query of a request line. */
export interface RequestTarget {
  /** Without repeated and trailing slashes; percent escapes as sent. `/` for the root. */
  readonly path: string
  /** Without the question mark; undefined when there is none. */
  readonly query: string | undefined
}

/** Splits a request target; callers concatenate URLs carelessly, so `//v1/…` and a trailing slash are taken. */
export function parseRequestTarget(url: string): RequestTarget {
  const mark = url.indexOf('?')
  const rawPath = mark === -1 ? url : url.slice(0, mark)
  return { path: tidyPath(rawPath), query: mark === -1 ? undefined : url.slice(mark + 1) }
}

function tidyPath(path: string): string {
  if (!path.includes('//') && (path.length === 1 || !path.endsWith('/'))) return path === '' ? '/' : path
  const collapsed = path.replace(/\/{2,}/g, '/')
  return collapsed.length > 1 && collapsed.endsWith('/') ? collapsed.slice(0, -1) : collapsed
}
