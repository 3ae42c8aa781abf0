import { AppError } from '../../errors.js'

/** Segments that encode to themselves and would lead elsewhere. */
const MISLEADING: readonly string[] = ['', '.', '..']

/** The URL of a resource below a tool's own: every segment and value encoded. Raises `invalid` for a segment that climbs. */
export function toolUrl(
  baseUrl: string,
  segments: readonly string[],
  query: Readonly<Record<string, string>> = {},
): string {
  const wrong = segments.find((segment) => MISLEADING.includes(segment))
  if (wrong !== undefined) throw new AppError('invalid', `a name may not be ${JSON.stringify(wrong)}`)
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
  const search = new URLSearchParams(query).toString()
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`
}
