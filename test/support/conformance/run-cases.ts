import { differenceOf } from './outcome.js'
import type { Outcome } from './outcome.js'
import type { ConformanceCase } from './read-cases.js'

/** Each case waits for the compiler most of its time. */
const PARALLEL_CASES = 3

/** Runs cases a few at a time. Returns the differences of failing ones by name. */
export async function runCases(
  cases: readonly ConformanceCase[],
  run: (test: ConformanceCase) => Promise<Outcome>,
): Promise<Map<string, string>> {
  const differences = new Map<string, string>()
  const waiting = cases.values()
  const work = async (): Promise<void> => {
    for (const test of waiting) {
      const difference = differenceOf(test, await run(test))
      if (difference !== undefined) differences.set(test.name, difference)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_CASES }, work))
  return differences
}
