import { oneLine } from '../output/display-width.js'
import { escapeXml } from '../output/escape-xml.js'
import { printable } from '../../lib/text/shown-text.js'
import { expressionLines, summariseTests } from './test-report.js'
import type { TestRun } from './test-report.js'

/** A test, or another condition of the run, in the terms of test reporters. */
interface ReportedCase {
  readonly group: string
  readonly name: string
  readonly outcome: 'pass' | 'fail' | 'error' | 'skip'
  readonly location?: { readonly file: string; readonly row: number }
  /** The reason of a failure or an error. */
  readonly message: string
  readonly lines: readonly string[]
}

const NOT_TRUE = 'the result is not true'
const NOT_RUN = 'todo_ tests do not run'

/** Returns the report in the JUnit format: a test suite for each package. */
export function junitReport(run: TestRun): string {
  const cases = reportedCases(run)
  const groups = Map.groupBy(cases, ({ group }) => group)
  const suites = [...groups].map(([name, members]) =>
    [
      `  <testsuite name="${escapeXml(name)}" ${totals(members)}>\n`,
      ...members.map(junitCase),
      '  </testsuite>\n',
    ].join(''),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="tidegate test" ${totals(cases)}>\n${suites.join('')}</testsuites>\n`
}

/** Returns the report in the Test Anything Protocol, version 14 (testanything.org). */
export function tapReport(run: TestRun): string {
  const cases = reportedCases(run)
  const lines = cases.map((each, index) => tapCase(each, index + 1))
  return printable(`TAP version 14\n1..${cases.length}\n${lines.join('')}`)
}

/** Returns the tests, and everything else that can fail the run if it does. */
function reportedCases(run: TestRun): ReportedCase[] {
  const { isCovered, coveragePercent } = summariseTests(run)
  return [
    ...run.tests.map(({ package: group, name, file, row, outcome, notes, values = [] }) => ({
      group,
      name,
      outcome,
      location: { file, row },
      // The first note of an error is the error; those of a failure can be printed output.
      message: (outcome === 'error' ? notes[0] : undefined) ?? NOT_TRUE,
      lines: [...notes.slice(outcome === 'error' ? 1 : 0), ...values.flatMap(expressionLines)],
    })),
    ...run.differences.map(({ rule, file, row, opa, served, notes }) => ({
      group: 'served as WebAssembly',
      name: rule,
      outcome: 'fail' as const,
      location: { file, row },
      message: `${opa} in opa, ${served} when served as WebAssembly`,
      lines: notes,
    })),
    ...(run.portability?.findings ?? []).map(({ rule, subject, kind, message }) => ({
      group: '@open-policy-agent/opa-wasm',
      name: rule,
      outcome: 'fail' as const,
      message: `${kind}: ${message}`,
      lines: [subject],
    })),
    ...(isCovered
      ? []
      : [
          {
            group: 'coverage',
            name: 'threshold',
            outcome: 'fail' as const,
            message: `coverage of ${coveragePercent} % is below the required ${run.threshold ?? 0} %`,
            lines: [],
          },
        ]),
  ]
}

function totals(cases: readonly ReportedCase[]): string {
  const having = (wanted: ReportedCase['outcome']): number =>
    cases.filter(({ outcome }) => outcome === wanted).length
  return `tests="${cases.length}" failures="${having('fail')}" errors="${having('error')}" skipped="${having('skip')}"`
}

function junitCase({ group, name, outcome, location, message, lines }: ReportedCase): string {
  const at = location === undefined ? '' : ` file="${escapeXml(location.file)}" line="${location.row}"`
  const start = `    <testcase classname="${escapeXml(group)}" name="${escapeXml(name)}"${at}`
  const output = lines.length === 0 ? '' : `<system-out>${escapeXml(lines.join('\n'))}</system-out>`
  if (outcome === 'pass') return output === '' ? `${start}/>\n` : `${start}>${output}</testcase>\n`
  if (outcome === 'skip') return `${start}><skipped message="${NOT_RUN}"/></testcase>\n`
  const element = outcome === 'fail' ? 'failure' : 'error'
  const where = location === undefined ? [] : [`${location.file}:${location.row}`]
  const text = [message, ...where, ...lines].join('\n')
  return `${start}><${element} message="${escapeXml(oneLine(message))}">${escapeXml(text)}</${element}></testcase>\n`
}

function tapCase({ group, name, outcome, location, message, lines }: ReportedCase, number: number): string {
  // TAP escapes # in descriptions, since it starts a directive.
  const title = oneLine(`${group}.${name}`).replace(/[\\#]/g, String.raw`\$&`)
  if (outcome === 'pass') return `ok ${number} - ${title}\n`
  if (outcome === 'skip') return `ok ${number} - ${title} # SKIP ${NOT_RUN}\n`
  const details = [
    `message: ${JSON.stringify(message)}`,
    `severity: ${outcome}`,
    ...(location === undefined
      ? []
      : ['at:', `  file: ${JSON.stringify(location.file)}`, `  line: ${location.row}`]),
    ...(lines.length === 0 ? [] : ['output:', ...lines.map((line) => `  - ${JSON.stringify(line)}`)]),
  ]
  return `not ok ${number} - ${title}\n  ---\n${details.map((line) => `  ${line}\n`).join('')}  ...\n`
}
