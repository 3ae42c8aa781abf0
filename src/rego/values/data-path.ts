import { AppError } from '../../errors/app-error.js'

/**
 * Returns the segments of a data path as sent (`app/a%2Fb/1`). Slashes split first, then each
 * segment is decoded, so an escaped slash stays in its segment. Raises `invalid` for a broken
 * escape and for a `.` or `..` segment: OPA redirects these, and proxies that normalize them would
 * request another document.
 */
export function parseDataPath(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new AppError(
      'invalid',
      'the path has a segment that is . or ..: leave it out, or write %2E where a name is meant',
    )
  }
  try {
    return segments.map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment))
  } catch (cause) {
    throw new AppError('invalid', `the path has a broken percent escape: ${path}`, { cause })
  }
}

/**
 * Returns a data path without the prefix of its route, as users copy it from a request:
 * `/v1/data/app/allow`.
 */
export function withoutDataRoute(path: string): string {
  return path.replace(/^\/?(?:v1\/data\/)?/, '')
}

/**
 * A path segment that OPA 1.x parses as a number (`util.Atoi64`): up to 19 digits after a sign,
 * also with zeros after a point.
 */
const INTEGER = /^(?<sign>[+-]?)(?=[\d.]{1,19}$)(?<digits>\d*)(?:\.0*)?$/

/** Returns the 64-bit integer that OPA parses a path segment as, if any. */
export function integerSegment(segment: string): bigint | undefined {
  const { sign, digits } = INTEGER.exec(segment)?.groups ?? {}
  if (digits === undefined) return undefined
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, value) === value ? value : undefined
}
