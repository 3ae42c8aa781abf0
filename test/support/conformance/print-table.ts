import type { ConformanceCase } from './read-cases.js'

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
