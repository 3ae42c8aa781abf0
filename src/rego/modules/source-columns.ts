import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import type { RegoFile } from './rego-module.js'

/** Returns details with the columns of the files as written, which `spellNumbers` shifts. */
export function withSourceColumns(
  details: readonly ErrorDetail[],
  files: readonly RegoFile[],
): readonly ErrorDetail[] {
  const shifted = new Map(
    files.flatMap((one) => (one.source === undefined ? [] : [[one.file, one] as const])),
  )
  if (shifted.size === 0) return details
  return details.map((detail) => {
    const { location } = detail
    const file = shifted.get(location?.file ?? '')
    if (location === undefined || file === undefined) return detail
    return { ...detail, location: sourceLocation(file, location) }
  })
}

/** Returns an error with the columns of the files as written. */
export function errorWithSourceColumns(raw: unknown, files: readonly RegoFile[]): unknown {
  if (!(raw instanceof AppError) || raw.details.length === 0) return raw
  const details = withSourceColumns(raw.details, files)
  if (details === raw.details) return raw
  return new AppError(raw.kind, raw.message, { code: raw.code, details, cause: raw.cause })
}

/** Returns a location in `text` as one in the source of the file. */
export function sourceLocation<L extends { readonly row: number; readonly col: number }>(
  { text, source = text }: RegoFile,
  location: L,
): L {
  const [line, written] = [text, source].map((whole) => whole.split('\n')[location.row - 1] ?? '')
  if (line === undefined || written === undefined || line === written) return location
  let col = 0
  // A zero is inserted before a point, or replaces the space before it.
  for (let at = 0; at < location.col - 1; at += 1)
    if (line[at] === written[col] || written[col] === ' ') col += 1
  return { ...location, col: col + 1 }
}
