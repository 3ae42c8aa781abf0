import { Option } from 'commander'
import type { Command } from 'commander'

import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load-config.js'
import { AppError } from '../errors/app-error.js'
import type { ErrorDetail } from '../errors/app-error.js'
import { inTemporaryDirectory } from '../lib/temporary-directory.js'
import {
  EvaluatedPackages,
  addVariableValues,
  benchmarkTests,
  collectSources,
  findMisnamedTests,
  loadSnapshot,
  measureCoverage,
  readData,
  ruleName,
  rulePath,
  runOpaTests,
  stageTests,
  strictnessOf,
  type FileCoverage,
  type LoadOptions,
  type OpaProgram,
  type OpaTest,
  type PolicyLocations,
  type StagedTests,
} from '../rego/index.js'
import { EXIT, watchFiles } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { failsOnWarnings, findInputWarnings, schemaFolder, reportWarnings } from './input/find-warnings.js'
import type { SchemaOptions } from './input/find-warnings.js'
import { loadServed } from './input/load-served.js'
import { loadOptions, policyFiles } from './input/open-policies.js'
import { makeColours } from './output/colours.js'
import { Progress } from './output/progress.js'
import { wrongUse } from './session/session.js'
import {
  policyFlags,
  outJson,
  examples,
  addOutputOptions,
  addSchemaOption,
  addConfigOption,
  addVersionOptions,
  addWarningOption,
  allDataOption,
} from './session/shared-options.js'
import type { OutputOptions, PolicyOptions, WarningOptions } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'
import { checkPortability } from './portable/check-portability.js'
import type { HostQuery } from './portable/compare-hosts.js'
import { withRequests } from './input/evaluate-once.js'
import { findDifferences } from './test/served-outcomes.js'
import type { Serving } from './test/served-outcomes.js'
import { junitReport, tapReport } from './test/test-formats.js'
import { summariseTests, testReportJson, testReportText } from './test/test-report.js'
import type { TestRun } from './test/test-report.js'

type TestFormat = OutputOptions['format'] | 'junit' | 'tap'

interface TestOptions
  extends Omit<OutputOptions, 'format'>, Omit<PolicyOptions, 'timeout'>, SchemaOptions, WarningOptions {
  readonly timeout?: string | undefined
  readonly exitZeroOnSkipped?: true
  readonly run?: string
  readonly coverage?: true
  readonly verbose?: true
  readonly threshold?: number
  readonly portable?: true
  readonly format: TestFormat
  readonly bench?: true
}

/** Timeout of the whole run. `--timeout` limits each test. */
const TEST_LIMIT_MS = 600_000

/** `tidegate test`: runs Rego tests in OPA and as served. */
export function defineTest(command: Command, session: Session): void {
  addOutputOptions(
    addWatchOption(addWarningOption(addSchemaOption(addConfigOption(addVersionOptions(command))))),
    ['text', 'junit', 'tap'],
  )
    .description(
      'Runs the Rego tests with opa test, evaluates every test rule again as the service does, and loads the policies without tests. Exits with 1 if a test fails, is skipped (todo_test_…, like opa test) or has a different result, or if the coverage is below the threshold.',
    )
    .argument('[dir...]', 'directories of Rego with *_test.rego (default: policies.directories)')
    .addOption(allDataOption())
    .option('-v, --verbose', 'show every test and its output')
    .option('-r, --run <regex>', 'run only the tests whose full name matches')
    .option('-c, --coverage', 'measure the coverage of each file, like opa test; --threshold does it, too')
    .option('-b, --bundle', 'accepted as in opa test; directories are always loaded as bundles')
    .option('--fail-on-empty', 'accepted as in opa test; a run without tests is always an error')
    .option('-z, --exit-zero-on-skipped', 'exit with 0 even if tests are skipped')
    .option('--timeout <duration>', 'timeout of each test, such as 10s (default: 5s)')
    .addOption(new Option('--threshold <percent>', 'minimum coverage').argParser(toPercent))
    .option(
      '--portable',
      'also evaluate every test rule with @open-policy-agent/opa-wasm and fail on differences',
    )
    .option(
      '--var-values',
      'accepted as in opa test; failed expressions are always shown with the values of their variables',
    )
    .option('--bench', 'also run the passing tests with opa test --bench; for the formats text and json')
    .option('--opa <file>', 'opa program for testing')
    .addHelpText(
      'after',
      examples(
        'tidegate test',
        'tidegate test policies --run wait_time --coverage',
        'tidegate test policies --format junit > report.xml',
        'tidegate test --watch',
      ),
    )
    .action(async (directories: readonly string[], options: TestOptions) => {
      session.exitCode = await test(directories, options, session)
    })
}

async function test(
  named: readonly string[],
  { timeout, data = [], ...options }: TestOptions,
  session: Session,
): Promise<ExitCode> {
  const { terminal } = session
  if (options.bench && options.format !== 'text' && options.format !== 'json')
    throw wrongUse(`--bench has no format ${options.format}: use text or json`)
  const given = [...named, ...data]
  const policies = policyFiles({ ...options, ...(given.length > 0 && { policies: given }) }, terminal)
  await watchFiles(session, [...policies, schemaFolder(options)])
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  const { directories, bundles } = config.policies
  const includesAllData = data.length > 0
  const locations =
    given.length > 0 ? { directories: given, bundles: [], includesAllData } : { directories, bundles }
  const load = loadOptions(config, terminal)
  const work = withRequests(config, terminal, (requests) =>
    runTests(locations, { ...options, timeout }, load, { requests, strictnessOf: strictnessUnder(config) }),
  )
  const run = await new Progress(terminal).during('running tests …', work)
  const input = await findInputWarnings(locations.directories, options, config.policies, load)
  const warnings = [...run.warnings, ...input]
  reportWarnings(warnings, options.format === 'json' ? 'json' : 'text', terminal)
  if (options.format === 'json') outJson(terminal, testReportJson({ ...run, warnings }))
  else if (options.format === 'junit') terminal.out(junitReport(run))
  else if (options.format === 'tap') terminal.out(tapReport(run))
  else terminal.out(testReportText(run, makeColours(terminal.hasColours), options.verbose))
  const { failed, skipped, different, isCovered } = summariseTests(run)
  // Like opa test, skipped tests fail the run.
  const unportable = run.portability?.findings.length ?? 0
  const notWritten = options.exitZeroOnSkipped ? 0 : skipped
  const isPassed = failed + notWritten + different + unportable === 0 && isCovered
  return isPassed && !failsOnWarnings(warnings, options) ? EXIT.fine : EXIT.denied
}

async function runTests(
  locations: PolicyLocations,
  { run, timeout, coverage: wantsCoverage, threshold, portable, bench }: TestOptions,
  loading: LoadOptions,
  serving: Serving,
): Promise<TestRun> {
  // Tests mock other hosts, and run where requests are not allowed.
  const load = { ...loading, warnsOfRefusedBuiltins: true }
  const opa = await load.findOpa()
  const tested = { ...locations, bundles: [], includeTests: true }
  return await inTemporaryDirectory(async (directory) => {
    const running = stageLocations(opa, tested, directory).then(async (staged) => {
      return { staged, found: await runOpaTests(staged, { run, timeout }) }
    })
    // OPA runs the tests while the policies are compiled. Errors of compiling are better than OPA's,
    // so they take precedence.
    const [compiled, served, ran] = await Promise.allSettled([
      loadSnapshot(tested, load),
      loadServed(locations, load),
      running,
    ])
    const snapshot = valueOf(compiled)
    const { warnings } = valueOf(served)
    const { staged, found } = valueOf(ran)
    const tests = await addVariableValues(staged, found, timeout)
    const isMeasured = wantsCoverage === true || threshold !== undefined
    const { coverage, notes } = isMeasured ? await measured(staged, tests) : { notes: [] }
    const differences = await findDifferences(snapshot, tests, serving)
    const portability =
      portable === true
        ? await checkPortability(tested, { load, requests: serving.requests }, snapshot, queriesOf(tests))
        : undefined
    const benchmarks = bench === true ? await benchmarkTests(staged, tests, timeout) : undefined
    const told = [...warnings, ...findMisnamedTests(staged.modules), ...notes]
    return { tests, differences, coverage, threshold, warnings: told, portability, benchmarks }
  })
}

/** Returns the value of a promise that was fulfilled, or throws its error. */
function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

/**
 * Returns the strictness by package: that of verdicts for packages that callers use for verdicts.
 */
function strictnessUnder({ policies }: Config): Serving['strictnessOf'] {
  const evaluated = new EvaluatedPackages(policies.staticPackages)
  return (path) => strictnessOf(policies.strictBuiltinErrors, evaluated.callerKindOf(path) !== 'nobody')
}

/**
 * Measures coverage. If OPA cannot, it is empty and a warning gives the reason; test results still
 * count.
 */
async function measured(
  staged: StagedTests,
  tests: readonly OpaTest[],
): Promise<{ coverage: readonly FileCoverage[]; notes: readonly ErrorDetail[] }> {
  try {
    return { coverage: await measureCoverage(staged, tests), notes: [] }
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    const reasons = raw.details.map(({ message }) => message).join('; ')
    return { coverage: [], notes: [{ code: 'no_coverage', message: `${raw.message}: ${reasons}` }] }
  }
}

/** Returns each test rule once, without skipped ones. */
function queriesOf(tests: readonly OpaTest[]): HostQuery[] {
  const byRule = new Map(
    tests.filter(({ outcome }) => outcome !== 'skip').map((test) => [ruleName(test), test] as const),
  )
  return [...byRule.values()].map((test) => ({
    path: rulePath(test),
    input: undefined,
    subject: `${test.file}:${test.row}`,
  }))
}

async function stageLocations(
  opa: OpaProgram,
  { directories, includesAllData }: PolicyLocations,
  temporary: string,
): Promise<StagedTests> {
  const sources = await collectSources(directories, { includeTests: true, includesAllData })
  const { data } = readData(sources.data)
  return await stageTests(opa, { rego: sources.rego, data }, temporary, TEST_LIMIT_MS)
}

function toPercent(text: string): number {
  const percent = Number(text)
  if (text.trim() !== '' && percent >= 0 && percent <= 100) return percent
  throw wrongUse(`--threshold must be a number from 0 to 100, not '${text}'`)
}
