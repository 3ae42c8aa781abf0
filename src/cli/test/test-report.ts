import type { ErrorDetail } from '../../errors/app-error.js'
import type { Colours } from '../output/colours.js'
import { portabilityText } from '../portable/check-portability.js'
import type { Portability } from '../portable/compare-hosts.js'
import { count, textTable } from '../output/text-table.js'
import { lineRanges } from '../../lib/text/line-ranges.js'
import {
  coveragePercent,
  type Benchmark,
  type FailedExpression,
  type FileCoverage,
  type OpaTest,
} from '../../rego/index.js'
import type { Difference } from './served-outcomes.js'

/** Results of a test run. */
export interface TestRun {
  readonly tests: readonly OpaTest[]
  readonly differences: readonly Difference[]
  /** Undefined if not requested. */
  readonly coverage?: readonly FileCoverage[] | undefined
  /** Required coverage in per cent. */
  readonly threshold: number | undefined
  readonly warnings: readonly ErrorDetail[]
  /** Comparison with another program that runs the WebAssembly; undefined if not requested. */
  readonly portability?: Portability | undefined
  /** Benchmarks of the passing tests; undefined if not requested. */
  readonly benchmarks?: readonly Benchmark[] | undefined
}

export interface TestSummary {
  readonly tests: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Number of rules with a different result in the service. */
  readonly different: number
  readonly coveragePercent: number | undefined
  readonly isCovered: boolean
}
export function summariseTests({ tests, differences, coverage, threshold = 0 }: TestRun): TestSummary {
  const having = (...outcomes: readonly OpaTest['outcome'][]): number =>
    tests.filter(({ outcome }) => outcomes.includes(outcome)).length
  const percent = coverage && coveragePercent(coverage)
  return {
    tests: tests.length,
    passed: having('pass'),
    failed: having('fail', 'error'),
    skipped: having('skip'),
    different: differences.length,
    coveragePercent: percent,
    isCovered: percent === undefined || percent >= threshold,
  }
}
export function testReportJson(run: TestRun): unknown {
  const files = run.coverage?.map((file) => ({
    ...{ ...file, covered: file.covered.length },
    percent: coveragePercent([file]),
  }))
  const { tests, differences, warnings, portability, benchmarks } = run
  return {
    tests,
    differences,
    coverage: files,
    summary: summariseTests(run),
    warnings,
    portability,
    benchmarks,
  }
}

/** Returns the text report: failures or all tests, coverage by file, and totals. */
export function testReportText(run: TestRun, colours: Colours, isVerbose = false): string {
  const parts = [
    ...run.tests
      .filter(({ outcome }) => isVerbose || outcome !== 'pass')
      .map((test) => testText(test, colours, isVerbose)),
    ...run.differences.map((difference) => differenceText(difference, colours)),
  ]
  const findings = parts.length === 0 ? '' : `${parts.join('')}\n`
  const portable = run.portability === undefined ? '' : portabilityText(run.portability, colours)
  const benchmarks = run.benchmarks === undefined ? '' : `${benchmarkText(run.benchmarks)}\n`
  const coverage = run.coverage === undefined ? '' : `${coverageText(run.coverage)}\n`
  return `${findings}${benchmarks}${coverage}${summaryText(run, colours)}${portable}`
}

function testText(test: OpaTest, colours: Colours, isVerbose: boolean): string {
  const title = `${test.package}.${test.name}  ${test.file}:${test.row}`
  const label = test.outcome.padEnd(5)
  const passed = isVerbose ? (test.cases ?? []).filter(({ passes }) => passes) : []
  const cases = passed.map(({ names }) => `case passed: ${names.join(' / ')}`)
  const values = (test.values ?? []).flatMap(expressionLines)
  const notes = [...cases, ...test.notes, ...values].map((note) => `       ${note}\n`).join('')
  const shown = test.outcome === 'skip' ? colours.faint : test.outcome === 'pass' ? colours.good : colours.bad
  return `${shown(label)}  ${title}\n${notes}`
}

function differenceText({ rule, file, row, opa, served, notes }: Difference, colours: Colours): string {
  const words = { pass: 'passes', fail: 'fails' }
  const lines = [`${words[opa]} in opa, ${words[served]} when served as WebAssembly`, ...notes]
  return `${colours.bad('diff ')}  ${rule}  ${file}:${row}\n${lines.map((line) => `       ${line}\n`).join('')}`
}

/** Returns the location of a failed expression, and its lines. */
export function expressionLines({ file, row, text }: FailedExpression): string[] {
  return [`${file}:${row}:`, ...text.split('\n').map((line) => `  ${line}`)]
}

function benchmarkText(benchmarks: readonly Benchmark[]): string {
  if (benchmarks.length === 0) return 'benchmarks: no test passed\n'
  const rows = benchmarks.map((each) => [
    ...[each.runs, each.nanosecondsPerRun, each.bytesPerRun, each.allocationsPerRun].map(String),
    each.rule,
  ])
  return textTable([['runs', 'ns/run', 'bytes/run', 'allocations/run', 'benchmark'], ...rows], [0, 1, 2, 3])
}

function coverageText(coverage: readonly FileCoverage[]): string {
  if (coverage.length === 0) return 'coverage: no lines measured\n'
  const rows = coverage.map((file) => [percentText([file]), file.file, lineRanges(file.uncovered)])
  const header = ['coverage', 'file', 'uncovered lines']
  return textTable([header, ...rows, [percentText(coverage), 'all files']], [0])
}

function summaryText(run: TestRun, colours: Colours): string {
  const {
    tests,
    passed,
    failed,
    skipped,
    different,
    isCovered,
    coveragePercent: percent,
  } = summariseTests(run)
  const parts = [
    `${passed} passed`,
    failed > 0 ? colours.bad(`${failed} failed`) : `${failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    different > 0
      ? colours.bad(`${different} different when served as WebAssembly`)
      : 'all the same when served as WebAssembly',
  ]
  const missing = isCovered
    ? ''
    : `${colours.bad(`coverage of ${percent} % is below the required ${run.threshold ?? 0} %`)}\n`
  return `${count(tests, 'test')}: ${parts.join(', ')}\n${missing}`
}

function percentText(files: readonly FileCoverage[]): string {
  return `${coveragePercent(files).toFixed(1)} %`
}
