import { AppError } from '../../errors/app-error.js'

/**
 * The segments of a data path as sent (`app/a%2Fb/1`): split at slashes first, then each decoded, so that an escaped
 * slash stays inside its segment. Raises `invalid` for a broken escape, and for a segment that is `.` or `..` as it stands: OPA
 * redirects from these, and whatever tidies the path on its way asks for another document.
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

/** A data path without the start of its route, as people copy it from a request: `/v1/data/app/allow`. */
export function withoutDataRoute(path: string): string {
  return path.replace(/^\/?(?:v1\/data\/)?/, '')
}

/** What OPA 1.x takes for a number in a path (util.Atoi64): up to 19 digits behind a sign, also with zeros behind a point. */
const INTEGER = /^(?<sign>[+-]?)(?=[\d.]{1,19}$)(?<digits>\d*)(?:\.0*)?$/

/** The number that OPA takes a segment of a path for, in place of the text: an integer of 64 bits. */
export function integerSegment(segment: string): bigint | undefined {
  const { sign, digits } = INTEGER.exec(segment)?.groups ?? {}
  if (digits === undefined) return undefined
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, value) === value ? value : undefined
}
