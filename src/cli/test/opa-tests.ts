import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import {
  readOpaErrors,
  regoVersionFlags,
  runOffline,
  type OpaProgram,
  type RegoVersion,
} from '../../rego/index.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { lineNumbers } from './coverage.js'
import type { FileCoverage } from './coverage.js'

/** Where a test rule stands, and how it ended. */
export interface OpaTest {
  /** The package below `data`, joined with dots. */
  readonly package: string
  /** The rule; OPA tells several of one name apart by `#01`, `#02`. */
  readonly name: string
  readonly file: string
  readonly row: number
  readonly outcome: 'pass' | 'fail' | 'error' | 'skip'
  /** What the error was, which cases failed, and what the test printed. */
  readonly notes: readonly string[]
  /** The cases of a rule with names behind its own (`test_x[name]`, OPA 1.2), each by its names; absent where it has none. */
  readonly cases?: readonly TestCase[]
}

export interface TestCase {
  readonly names: readonly string[]
  readonly passes: boolean
}

/** Rego laid out for `opa test --bundle`, and the way back to the names of its files. */
export interface StagedTests {
  readonly opa: OpaProgram
  readonly directory: string
  /** The same without a manifest, all of one version: of a bundle, OPA's coverage tells only the lines that are reached. */
  readonly plainDirectory: string
  readonly plainVersion: RegoVersion
  readonly sourceFile: (stagedName: string) => string
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
    /** What `print` wrote, in base64. */
    output: z.string().optional(),
  }),
)
type Reported = z.infer<typeof TestReport>[number]

const Range = z.object({ start: z.object({ row: z.number() }), end: z.object({ row: z.number() }) })
const CoverageReport = z.object({
  files: z.record(
    z.string(),
    z.object({ covered: z.array(Range).default([]), not_covered: z.array(Range).default([]) }),
  ),
})

/** Tests may take longer than a compilation: `--timeout` limits each of them. */
const TEST_LIMIT_MS = 600_000

/** Runs the test rules with `opa test`. Raises `invalid` when it cannot run them or none matches. */
export async function runOpaTests(
  staged: StagedTests,
  { run, timeout }: { readonly run?: string | undefined; readonly timeout?: string | undefined },
): Promise<OpaTest[]> {
  const flags = [
    ...(run === undefined ? [] : ['--run', run]),
    ...(timeout === undefined ? [] : ['--timeout', timeout]),
  ]
  const report = await runOffline(
    staged.opa,
    { command: 'test', flags: ['--bundle', '.', '--format', 'json', ...flags] },
    { cwd: staged.directory, timeLimitMs: TEST_LIMIT_MS },
  )
  if (!report.stdout.trimStart().startsWith('[')) {
    throw new AppError('invalid', 'opa test cannot run', {
      details: readOpaErrors(report, staged.sourceFile),
    })
  }
  const tests = TestReport.parse(JSON.parse(report.stdout))
    .map((test) => toTest(test, staged))
    // OPA 1.6 runs several at once, and tells them as they end.
    .sort((a, b) => compareStrings(a.file, b.file) || a.row - b.row)
  if (tests.length > 0) return tests
  const what = run === undefined ? 'there is no rule whose name starts with test_' : `no test matches ${run}`
  throw new AppError('invalid', what, { code: 'no_tests' })
}

/**
 * The lines that the tests reach, by file; test files are left out. OPA gives no coverage when a test fails or is
 * skipped: only those that pass are run. Raises `invalid` when OPA cannot measure.
 */
export async function measureCoverage(
  staged: StagedTests,
  tests: readonly OpaTest[],
): Promise<FileCoverage[]> {
  const passing = tests.filter(({ outcome }) => outcome === 'pass').map(ruleName)
  if (passing.length === 0) return []
  const pattern = `^data\\.?(${[...new Set(passing)].map((name) => escapeRegExp(name)).join('|')})$`
  const version = await regoVersionFlags(staged.opa, staged.plainVersion)
  const flags = ['--coverage', '--format', 'json', '--run', pattern, ...version]
  const report = await runOffline(
    staged.opa,
    { command: 'test', flags: ['.', ...flags] },
    { cwd: staged.plainDirectory, timeLimitMs: TEST_LIMIT_MS },
  )
  if (!report.stdout.trimStart().startsWith('{')) {
    const details = readOpaErrors(report, staged.sourceFile)
    throw new AppError('invalid', 'opa test cannot measure the coverage', { details })
  }
  const { files } = CoverageReport.parse(JSON.parse(report.stdout))
  return Object.entries(files)
    .map(([name, { covered, not_covered: missed }]) => ({
      file: staged.sourceFile(name),
      covered: lineNumbers(covered).length,
      uncovered: lineNumbers(missed),
    }))
    .filter(({ file }) => !file.endsWith('_test.rego'))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** The rule of a test, without what tells several of one name apart: `a_test.test_x`. */
export function ruleName({ package: packageName, name }: OpaTest): string {
  return `${packageName}.${name.replace(/#\d+$/, '')}`
}

/** The path of the rule below `data`; OPA writes a package segment that is no name as `["a-b"]`. */
export function rulePath(test: OpaTest): string[] {
  const segments = [...ruleName(test).matchAll(PATH_SEGMENT)]
  return segments.map(({ groups }) => groups?.['name'] ?? String(JSON.parse(groups?.['quoted'] ?? '""')))
}

function toTest(test: Reported, { sourceFile }: StagedTests): OpaTest {
  const { location, error, output } = test
  const cases = listCases(test.sub_results ?? {}, [])
  const printed = output === undefined ? '' : Buffer.from(output, 'base64').toString().trimEnd()
  return {
    package: test.package.replace(/^data\.?/, ''),
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

/** The innermost ones. */
function listCases(cases: Cases, above: readonly string[]): TestCase[] {
  return Object.entries(cases).flatMap(([name, { fail, sub_results: below = {} }]) => {
    const names = [...above, name]
    return Object.keys(below).length > 0 ? listCases(below, names) : [{ names, passes: fail !== true }]
  })
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
