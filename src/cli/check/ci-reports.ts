import { STDIN } from '../input/read-document.js'
import { makeColours } from '../output/colours.js'
import { oneLine } from '../output/display-width.js'
import { escapeMarkdown } from '../output/escape-markdown.js'
import { escapeXml } from '../output/escape-xml.js'
import { printable } from '../../lib/text/shown-text.js'
import { isUnchecked, problemsOf, totalsText } from './check-report.js'
import type { CheckResult, Problem } from './check-report.js'
import { sarifReport } from './sarif-report.js'

/** Formats of `tidegate check` for CI systems. */
export const CI_FORMATS = ['junit', 'sarif', 'github', 'markdown'] as const
export type CiFormat = (typeof CI_FORMATS)[number]

/** Returns the report in a format. It contains no control characters other than line feeds. */
export function ciReport(format: CiFormat, results: readonly CheckResult[]): string {
  if (format === 'junit') return junitReport(results)
  const problems = results.flatMap(problemsOf)
  const totals = totalsText(results, makeColours(false))
  if (format === 'sarif') return sarifReport(problems)
  return format === 'github' ? githubReport(problems, totals) : markdownReport(problems, totals)
}

/** Title of an error in reports. */
const NOT_CHECKED = 'cannot be checked'

/** Returns workflow commands of GitHub Actions, which become annotations, and the totals. */
function githubReport(problems: readonly Problem[], totals: string): string {
  const commands = problems.map(({ level, file, name, package: packageName, text, position }) => {
    const title = `${packageName ?? NOT_CHECKED}${name === undefined ? '' : `: ${name}`}`
    const properties = {
      ...(file === STDIN ? {} : { file }),
      ...(position === undefined ? {} : { line: `${position.line}`, col: `${position.column}` }),
      title,
    }
    const list = Object.entries(properties).map(([key, value]) => `${key}=${commandProperty(value)}`)
    return `::${level} ${list.join(',')}::${commandData(text)}\n`
  })
  return `${commands.join('')}${totals}\n`
}

/** Escapes the message of a workflow command as @actions/core does. */
function commandData(text: string): string {
  return printable(text.replace(/\r\n?/g, '\n')).replaceAll('%', '%25').replaceAll('\n', '%0A')
}

/** Escapes a property of a workflow command as @actions/core does. */
function commandProperty(text: string): string {
  return commandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** Returns JUnit XML with a suite for each file and a case for each pipeline. */
function junitReport(results: readonly CheckResult[]): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(
    ([file, cases]) =>
      `  <testsuite ${attributes({ name: file, ...junitCounts(cases) })}>\n${cases.map(junitCase).join('')}  </testsuite>\n`,
  )
  const head = attributes({ name: 'tidegate check', ...junitCounts(results) })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${head}>\n${suites.join('')}</testsuites>\n`
}

function junitCounts(results: readonly CheckResult[]) {
  const errors = results.filter(isUnchecked).length
  const failures = results.filter((result) => !isUnchecked(result) && !result.allowed).length
  return { tests: `${results.length}`, failures: `${failures}`, errors: `${errors}` }
}

/** All reasons share one element: several readers show only the first. */
function junitCase(result: CheckResult): string {
  const { file, name = file, position } = result
  const line = position === undefined ? {} : { line: `${position.line}` }
  const start = `    <testcase ${attributes({ classname: file, name, file, ...line })}`
  const { error: problems = [], warning: warnings = [] } = Object.groupBy(
    problemsOf(result),
    ({ level }) => level,
  )
  const [first] = problems
  const shown = linesOf(warnings)
  const output = shown === '' ? '' : `      <system-out>${escapeXml(shown)}</system-out>\n`
  if (first === undefined) return output === '' ? `${start}/>\n` : `${start}>\n${output}    </testcase>\n`
  const kind = isUnchecked(result) ? 'error' : 'failure'
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  const message = attributes({ message: `${oneLine(first.text)}${more}`, type: first.package ?? NOT_CHECKED })
  const failure = `      <${kind} ${message}>${escapeXml(linesOf(problems))}</${kind}>\n`
  return `${start}>\n${failure}${output}    </testcase>\n`
}

function linesOf(problems: readonly Problem[]): string {
  return problems.map((problem) => `${locationText(problem)}: ${reasonText(problem)}`).join('\n')
}

function locationText({ file, position }: Problem): string {
  return position === undefined ? file : `${file}:${position.line}:${position.column}`
}

function reasonText({ level, package: packageName, text }: Problem): string {
  const named = packageName === undefined ? text : `${packageName}: ${text}`
  return level === 'warning' ? `warning: ${named}` : named
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeXml(oneLine(value))}"`)
    .join(' ')
}

/** Maximum length of the table, in UTF-16 units. A comment on GitHub has at most 65,536 characters. */
const MAX_TABLE = 60_000

/** Returns a table for a pull request comment. */
function markdownReport(problems: readonly Problem[], totals: string): string {
  if (problems.length === 0) return `${escapeMarkdown(totals)}\n`
  const head = '| Location | Pipeline | Policy | Level | Reason |\n| --- | --- | --- | --- | --- |\n'
  const rows: string[] = []
  let length = 0
  for (const problem of problems) {
    const { level, name = '', package: packageName = NOT_CHECKED, text } = problem
    const cells = [locationText(problem), name, packageName, level, text].map(escapeMarkdown)
    const row = `| ${cells.join(' | ')} |\n`
    length += row.length
    if (length > MAX_TABLE) break
    rows.push(row)
  }
  const omitted = problems.length - rows.length
  const rest = omitted === 0 ? '' : `\n${omitted} more reasons are omitted: a comment would be too long.\n`
  return `${head}${rows.join('')}${rest}\n${escapeMarkdown(totals)}\n`
}
