import { displayWidth, shortenTo, oneLine } from './display-width.js'

/** Minimum width of the last column. */
const MIN_LAST_COLUMN = 20
const GAP = '  '

/**
 * Formats rows as an aligned table. `numeric` columns are right-aligned, and the last column is
 * shortened to fit `width`.
 */
export function textTable(
  given: readonly (readonly string[])[],
  numeric: readonly number[] = [],
  width = Infinity,
): string {
  const rows = given.map((row) => row.map(oneLine))
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), 0),
  )
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0)
  const lastWidth = Math.max(MIN_LAST_COLUMN, width - before)
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const shown = column === columns - 1 ? shortenTo(cell, lastWidth) : cell
        const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(shown)))
        return numeric.includes(column) ? padding + shown : shown + padding
      })
      .join(GAP)
      .trimEnd(),
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** Returns `1 file`, `2 files`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
