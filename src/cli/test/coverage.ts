/** Coverage of a file. */
export interface FileCoverage {
  readonly file: string
  /** Number of covered lines. */
  readonly covered: number
  /** Uncovered lines in order. */
  readonly uncovered: readonly number[]
}

interface LineRange {
  readonly start: { readonly row: number }
  readonly end: { readonly row: number }
}

/** Returns the lines of overlapping ranges in order, each once. */
export function lineNumbers(ranges: readonly LineRange[]): number[] {
  const lines = ranges.flatMap(({ start, end }) =>
    Array.from({ length: end.row - start.row + 1 }, (_, offset) => start.row + offset),
  )
  return [...new Set(lines)].sort((a, b) => a - b)
}

/** Returns covered lines in per cent, rounded down to one decimal; 0 without any line. */
export function coveragePercent(files: readonly FileCoverage[]): number {
  const covered = files.reduce((sum, file) => sum + file.covered, 0)
  const all = files.reduce((sum, file) => sum + file.covered + file.uncovered.length, 0)
  return all === 0 ? 0 : Math.floor((covered * 1000) / all) / 10
}

/** Returns line numbers as ranges: `3, 7-9`. */
export function lineRanges(lines: readonly number[]): string {
  const ranges: { first: number; last: number }[] = []
  for (const line of lines) {
    const open = ranges.at(-1)
    if (open?.last === line - 1) open.last = line
    else ranges.push({ first: line, last: line })
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(', ')
}
