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

/** The differences of the failing cases, by name. */
export type Differences = ReadonlyMap<string, string>

/**
 * Returns a table of the groups: passed by Tidegate, passed by the `opa` program, total; then the
 * failures of Tidegate.
 */
export function tableOf(cases: readonly ConformanceCase[], ours: Differences, opas: Differences): string {
  const groups = [...new Set(cases.map(({ group }) => group))].sort()
  const row = (title: string, members: readonly ConformanceCase[]): string => {
    const passed = (differences: Differences): string =>
      String(members.filter(({ name }) => !differences.has(name)).length).padStart(6)
    return `${title.padEnd(32)}${passed(ours)}${passed(opas)}${String(members.length).padStart(6)}`
  }
  return [
    `${'group'.padEnd(32)}  ours   opa total`,
    ...groups.map((group) =>
      row(
        group,
        cases.filter((test) => test.group === group),
      ),
    ),
    row('all', cases),
    '',
    ...[...ours].map(([name, difference]) => `${name}\n    ${difference}`),
    '',
  ].join('\n')
}
