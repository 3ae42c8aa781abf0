/** How much of one file the tests reach. */
export interface FileCoverage {
  readonly file: string
  /** How many lines are reached. */
  readonly covered: number
  /** The lines that are not, in order. */
  readonly uncovered: readonly number[]
}

interface LineRange {
  readonly start: { readonly row: number }
  readonly end: { readonly row: number }
}

/** The lines of ranges that may overlap, in order, each once. */
export function lineNumbers(ranges: readonly LineRange[]): number[] {
  const lines = ranges.flatMap(({ start, end }) =>
    Array.from({ length: end.row - start.row + 1 }, (_, offset) => start.row + offset),
  )
  return [...new Set(lines)].sort((a, b) => a - b)
}

/** Reached lines of all lines that can be, in per cent with one decimal rounded down; 0 where nothing is measured. */
export function coveragePercent(files: readonly FileCoverage[]): number {
  const covered = files.reduce((sum, file) => sum + file.covered, 0)
  const all = files.reduce((sum, file) => sum + file.covered + file.uncovered.length, 0)
  return all === 0 ? 0 : Math.floor((covered * 1000) / all) / 10
}

/** Lines as people write them: `3, 7-9`. */
export function lineRanges(lines: readonly number[]): string {
  const ranges: { first: number; last: number }[] = []
  for (const line of lines) {
    const open = ranges.at(-1)
    if (open?.last === line - 1) open.last = line
    else ranges.push({ first: line, last: line })
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
}
