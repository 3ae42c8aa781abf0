import { z } from 'zod'

import { lineNumbers } from '../../lib/text/line-ranges.js'

/** Lines that were evaluated, and those that were not, in order. Neither has lines without code. */
export interface LineCoverage {
  readonly covered: readonly number[]
  readonly uncovered: readonly number[]
}

/** Coverage of a file. */
export interface FileCoverage extends LineCoverage {
  readonly file: string
}

const Ranges = z
  .array(z.object({ start: z.object({ row: z.int() }), end: z.object({ row: z.int() }) }))
  .default([])
/** Coverage of a file as OPA reports it. */
export const CoverageRanges = z.object({ covered: Ranges, not_covered: Ranges })

/** Returns the lines of OPA's ranges. A line that is partly covered counts as covered. */
export function linesOf({ covered, not_covered: missed }: z.output<typeof CoverageRanges>): LineCoverage {
  const lines = lineNumbers(covered)
  const known = new Set(lines)
  return { covered: lines, uncovered: lineNumbers(missed).filter((line) => !known.has(line)) }
}

/** Returns covered lines in per cent, rounded down to one decimal; 0 without any line. */
export function coveragePercent(files: readonly LineCoverage[]): number {
  const covered = files.reduce((sum, file) => sum + file.covered.length, 0)
  const all = files.reduce((sum, file) => sum + file.covered.length + file.uncovered.length, 0)
  return all === 0 ? 0 : Math.floor((covered * 1000) / all) / 10
}
