/** Coverage of a file. */
export interface FileCoverage {
  readonly file: string
  /** Number of covered lines. */
  readonly covered: number
  /** Uncovered lines in order. */
  readonly uncovered: readonly number[]
}

/** Returns covered lines in per cent, rounded down to one decimal; 0 without any line. */
export function coveragePercent(files: readonly FileCoverage[]): number {
  const covered = files.reduce((sum, file) => sum + file.covered, 0)
  const all = files.reduce((sum, file) => sum + file.covered + file.uncovered.length, 0)
  return all === 0 ? 0 : Math.floor((covered * 1000) / all) / 10
}
