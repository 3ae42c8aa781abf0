import { escapeRegExp } from '../../lib/text/escape-pattern.js'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { isTestFile } from '../compile/collect-sources.js'
import { readOpaErrors } from '../modules/opa-errors.js'
import { regoVersionFlags } from '../opa/opa-release.js'
import { runOffline } from '../opa/run-offline.js'
import { CoverageRanges, linesOf } from './coverage.js'
import type { FileCoverage } from './coverage.js'
import { parseFailures } from './failed-expressions.js'
import type { FailedExpression } from './failed-expressions.js'
import type { StagedTests } from './stage-tests.js'

/** A test rule with its location and outcome. */
export interface OpaTest {
  readonly package: string
  /** Rule name. OPA distinguishes rules of the same name by `#01`, `#02`. */
  readonly name: string
  readonly file: string
  readonly row: number
  readonly outcome: 'pass' | 'fail' | 'error' | 'skip'
  /** The error, failed cases, and printed output. */
  readonly notes: readonly string[]
  /** Cases of a rule with further names (`test_x[name]`, OPA 1.2); undefined if there are none. */
  readonly cases?: readonly TestCase[]
  /** Failed expressions with the values of their variables; undefined if not requested. */
  readonly values?: readonly FailedExpression[]
}

/** Cost of a test rule as measured by `opa test --bench`. */
export interface Benchmark {
  /** The rule, such as `a_test.test_x`. */
  readonly rule: string
  readonly file: string
  readonly row: number
  readonly runs: number
  readonly nanosecondsPerRun: number
  readonly bytesPerRun: number
  readonly allocationsPerRun: number
}

export interface TestCase {
  readonly names: readonly string[]
  readonly passes: boolean
}

const PATH_SEGMENT = /(?<name>[^.[\]"]+)|\[(?<quoted>"(?:[^"\\]|\\.)*")\]/g

const Case = z.object({
  fail: z.boolean().optional(),
  get sub_results() {
    return z.record(z.string(), Case).optional()
  },
})
type Cases = Readonly<Record<string, z.infer<typeof Case>>>

const TestReport = z.array(
  z.object({
    location: z.object({ file: z.string(), row: z.number() }),
    package: z.string(),
    name: z.string(),
    fail: z.boolean().optional(),
    skip: z.boolean().optional(),
    error: z.object({ code: z.string().default('error'), message: z.string() }).optional(),
    sub_results: z.record(z.string(), Case).optional(),
    /** Output of `print` in base64. */
    output: z.string().optional(),
  }),
)
type Reported = z.infer<typeof TestReport>[number]

const CoverageReport = z.object({ files: z.record(z.string(), CoverageRanges) })

const BenchmarkReport = z.array(
  z.object({
    location: z.object({ file: z.string(), row: z.number() }),
    package: z.string(),
    name: z.string(),
    benchmark_result: z
      .object({ N: z.number(), T: z.number(), MemAllocs: z.number(), MemBytes: z.number() })
      .optional(),
  }),
)

/** Additional time for each benchmark, which OPA repeats for about a second. */
const BENCHMARK_LIMIT_MS = 10_000

export interface TestSelection {
  /** Regular expression of `--run`. */
  readonly run?: string | undefined
  /** Timeout of each test, such as `5s`. */
  readonly timeout?: string | undefined
}

/** Runs the test rules with `opa test`. Raises `invalid` if it fails or no test matches. */
export async function runOpaTests(staged: StagedTests, { run, timeout }: TestSelection): Promise<OpaTest[]> {
  const flags = [...(run === undefined ? [] : ['--run', run]), ...timeoutFlags(timeout)]
  const report = await runOffline(
    staged.opa,
    { command: 'test', flags: ['--bundle', '.', '--format', 'json', ...flags] },
    { cwd: staged.directory, timeLimitMs: staged.limitMs },
  )
  if (!report.stdout.trimStart().startsWith('[')) {
    throw new AppError('invalid', 'opa test cannot run', {
      details: readOpaErrors(report, staged.sourceFile),
    })
  }
  const tests = TestReport.parse(JSON.parse(report.stdout))
    .map((test) => toTest(test, staged))
    // OPA 1.6 runs tests in parallel and reports them as they end.
    .sort((a, b) => compareStrings(a.file, b.file) || a.row - b.row)
  if (tests.length > 0) return tests
  const what = run === undefined ? 'there is no rule whose name starts with test_' : `no test matches ${run}`
  throw new AppError('invalid', what, { code: 'no_tests' })
}

/**
 * Returns coverage by file, without test files. OPA reports none if a test fails or is skipped, so
 * only passing tests run. Raises `invalid` if OPA cannot measure it.
 */
export async function measureCoverage(
  staged: StagedTests,
  tests: readonly OpaTest[],
): Promise<FileCoverage[]> {
  const passing = tests.filter(({ outcome }) => outcome === 'pass')
  if (passing.length === 0) return []
  const version = await regoVersionFlags(staged.opa, staged.plainVersion)
  const flags = ['--coverage', '--format', 'json', ...runFlags(passing), ...version]
  const report = await runOffline(
    staged.opa,
    { command: 'test', flags: ['.', ...flags] },
    { cwd: staged.plainDirectory, timeLimitMs: staged.limitMs },
  )
  if (!report.stdout.trimStart().startsWith('{')) {
    const details = readOpaErrors(report, staged.sourceFile)
    throw new AppError('invalid', 'opa test cannot measure the coverage', { details })
  }
  const { files } = CoverageReport.parse(JSON.parse(report.stdout))
  return Object.entries(files)
    .map(([name, ranges]) => ({ file: staged.sourceFile(name), ...linesOf(ranges) }))
    .filter(({ file }) => !isTestFile(file))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
}

/**
 * Returns the tests with the failed expressions of those that fail. OPA shows values as text only,
 * so the failed tests run again.
 */
export async function addVariableValues(
  staged: StagedTests,
  tests: readonly OpaTest[],
  timeout: string | undefined,
): Promise<OpaTest[]> {
  const failed = tests.filter(isFailed)
  if (failed.length === 0) return [...tests]
  const flags = ['--bundle', '.', '--var-values', ...runFlags(failed), ...timeoutFlags(timeout)]
  const { stdout } = await runOffline(
    staged.opa,
    { command: 'test', flags },
    { cwd: staged.directory, timeLimitMs: staged.limitMs },
  )
  const expressions = parseFailures(stdout, staged.sourceFile)
  return tests.map((test) =>
    isFailed(test) ? { ...test, values: expressions.get(`${test.package}.${test.name}`) ?? [] } : test,
  )
}

/**
 * Returns the benchmarks of the passing tests; OPA 0.70 crashes on others. Raises `invalid` if OPA
 * cannot run them.
 */
export async function benchmarkTests(
  staged: StagedTests,
  tests: readonly OpaTest[],
  timeout: string | undefined,
): Promise<Benchmark[]> {
  const passing = tests.filter(({ outcome }) => outcome === 'pass')
  if (passing.length === 0) return []
  const flags = [
    '--bench',
    '--bundle',
    '.',
    '--format',
    'json',
    ...runFlags(passing),
    ...timeoutFlags(timeout),
  ]
  const timeLimitMs = staged.limitMs + passing.length * BENCHMARK_LIMIT_MS
  const report = await runOffline(
    staged.opa,
    { command: 'test', flags },
    { cwd: staged.directory, timeLimitMs },
  )
  if (!report.stdout.trimStart().startsWith('[')) {
    const details = readOpaErrors(report, staged.sourceFile)
    throw new AppError('invalid', 'opa test cannot run the benchmarks', { details })
  }
  return BenchmarkReport.parse(JSON.parse(report.stdout))
    .flatMap(({ location, package: packageName, name, benchmark_result: result }) => {
      if (result === undefined || result.N === 0) return []
      const perRun = (total: number): number => Math.round(total / result.N)
      return {
        rule: `${withoutData(packageName)}.${name}`,
        file: staged.sourceFile(location.file),
        row: location.row,
        runs: result.N,
        nanosecondsPerRun: perRun(result.T),
        bytesPerRun: perRun(result.MemBytes),
        allocationsPerRun: perRun(result.MemAllocs),
      }
    })
    .sort((a, b) => compareStrings(a.file, b.file) || a.row - b.row)
}

/** Flags that select exactly these tests. */
function runFlags(tests: readonly OpaTest[]): string[] {
  const names = [...new Set(tests.map(ruleName))].map(escapeRegExp)
  return ['--run', `^data\\.?(${names.join('|')})$`]
}

function timeoutFlags(timeout: string | undefined): string[] {
  return timeout === undefined ? [] : ['--timeout', timeout]
}

function isFailed({ outcome }: OpaTest): boolean {
  return outcome === 'fail' || outcome === 'error'
}

/** Returns the rule of a test without OPA's suffix: `a_test.test_x`. */
export function ruleName({ package: packageName, name }: OpaTest): string {
  return `${packageName}.${name.replace(/#\d+$/, '')}`
}

/**
 * Returns the path of the rule under `data`. OPA writes package segments that are no identifiers as
 * `["a-b"]`.
 */
export function rulePath(test: OpaTest): string[] {
  const segments = [...ruleName(test).matchAll(PATH_SEGMENT)]
  return segments.map(({ groups }) => groups?.['name'] ?? String(JSON.parse(groups?.['quoted'] ?? '""')))
}

function toTest(test: Reported, { sourceFile }: StagedTests): OpaTest {
  const { location, error, output } = test
  const cases = listCases(test.sub_results ?? {}, [])
  const printed = output === undefined ? '' : Buffer.from(output, 'base64').toString().trimEnd()
  return {
    package: withoutData(test.package),
    name: test.name,
    file: sourceFile(location.file),
    row: location.row,
    outcome: error !== undefined ? 'error' : test.skip ? 'skip' : test.fail ? 'fail' : 'pass',
    ...(cases.length > 0 && { cases }),
    notes: [
      ...(error === undefined ? [] : [`${error.code}: ${error.message}`]),
      ...cases.flatMap(({ names, passes }) => (passes ? [] : [`case failed: ${names.join(' / ')}`])),
      ...(printed === '' ? [] : printed.split('\n')),
    ],
  }
}

/** Returns the innermost cases. */
function listCases(cases: Cases, above: readonly string[]): TestCase[] {
  return Object.entries(cases).flatMap(([name, { fail, sub_results: below = {} }]) => {
    const names = [...above, name]
    return Object.keys(below).length > 0 ? listCases(below, names) : [{ names, passes: fail !== true }]
  })
}

function withoutData(name: string): string {
  return name.replace(/^data\.?/, '')
}
