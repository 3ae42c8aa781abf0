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
