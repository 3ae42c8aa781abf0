import { resolve, dirname, relative } from 'node:path'
import type { Command } from 'commander'
import { CONFIG_FILE_VARIABLE } from '../config/read-environment.js'
import { inTemporaryDirectory } from '../lib/temporary-directory.js'
import {
  compileError,
  questionOf,
  type PolicyRequests,
  type Snapshot,
  RegoObject,
  collectSources,
  listSourceTree,
  parseModules,
  readOpaErrors,
  runOffline,
  sourceFiles,
  stageBundle,
  withNearNames,
  withTypes,
  type LoadOptions,
} from '../rego/index.js'
import { checkDefinition, listUnevaluated, openChecking } from './check/check-definition.js'
import type { Checking } from './check/check-definition.js'
import {
  checkReportJson,
  checkReportText,
  isUnchecked,
  policyReportText,
  summarise,
} from './check/check-report.js'
import type { CheckResult } from './check/check-report.js'
import { CI_FORMATS, ciReport } from './check/ci-reports.js'
import type { CiFormat } from './check/ci-reports.js'
import { isConfiguration, isDefinitionFile } from './check/find-definitions.js'
import { StageFinder } from './check/locate-stages.js'
import { readPipelineFiles } from './check/read-pipeline-files.js'
import type { ReadDefinition } from './check/read-pipeline-files.js'
import { withRequests } from './input/evaluate-once.js'
import { failsOnWarnings, findInputWarnings, schemaFolder, reportWarnings } from './input/find-warnings.js'
import type { SchemaOptions } from './input/find-warnings.js'
import { loadServed } from './input/load-served.js'
import { findPolicies, loadOptions, openPolicies, policyFiles } from './input/open-policies.js'
import type { InputForm } from './input/read-definitions.js'
import { addExceptionsOption, readExceptions } from './input/read-exceptions.js'
import type { ExceptionOptions } from './input/read-exceptions.js'
import { usesShippedPolicies } from './input/shipped-policies.js'
import { makeColours } from './output/colours.js'
import { Progress } from './output/progress.js'
import { count } from './output/text-table.js'
import { checkPortability, portabilityText } from './portable/check-portability.js'
import type { HostQuery } from './portable/compare-hosts.js'
import { EXIT, watchFiles, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import {
  addInputFormOption,
  addOutputOptions,
  addPolicyOptions,
  addSchemaOption,
  addVersionOptions,
  addWarningOption,
  examples,
  outJson,
} from './session/shared-options.js'
import type { OutputOptions, PolicyOptions, WarningOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'

interface CheckOptions extends PolicyOptions, SchemaOptions, WarningOptions, ExceptionOptions {
  readonly format: OutputOptions['format'] | CiFormat
  readonly as?: InputForm
  readonly portable?: true
  readonly strict?: true
}

/** `tidegate check`: evaluates the static policies on pipeline definitions. */
export function defineCheck(command: Command, session: Session): void {
  addOutputOptions(
    addWatchOption(
      addWarningOption(
        addExceptionsOption(
          addSchemaOption(addInputFormOption(addPolicyOptions(addVersionOptions(command)))),
        ),
      ),
    ),
    [],
    CI_FORMATS,
  )
    .description(
      'Evaluates the static policies on pipeline definitions, as when the orchestrator saves them: by the levels of packages (policies.levels) and the exceptions of --exceptions. Exits with 1 if one is denied, with 2 if one cannot be checked. Reasons that only warn are shown and change no exit code. Warnings about the policies themselves go to standard error and fail the command with --fail-on-warning. With --schema or --strict and no path, or with directories of Rego, only the policies are checked.',
    )
    .option(
      '-S, --strict',
      'fail on unused variables and imports, and on anything else that opa check --strict rejects; includes --fail-on-warning',
    )
    .option(
      '--portable',
      'also evaluate with @open-policy-agent/opa-wasm and report differences; exits with 1 if there are any',
    )
    .argument(
      '[path...]',
      'definitions: JSON and YAML files, directories (all *.json, *.yaml, *.yml and dinghyfile below, without hidden files, tidegate.yaml and data of the policies), or - for standard input; directories of Rego are checked like opa check',
    )
    .addHelpText(
      'after',
      examples(
        'tidegate check pipeline.json',
        'tidegate check --format json pipelines/',
        'tidegate check --format sarif pipelines/ > tidegate.sarif',
        'tidegate check --schema default',
        'tidegate check --strict policies/',
        'tidegate check --watch pipeline.json',
      ),
    )
    .action(async (paths: readonly string[], options: CheckOptions) => {
      session.exitCode = await check(paths, options, session)
    })
}

async function check(paths: readonly string[], options: CheckOptions, session: Session): Promise<ExitCode> {
  const { terminal } = session
  const { bundle, ...others } = options
  // Like opa check, --bundle only describes the layout of directories.
  if (paths.length === 0 && Array.isArray(bundle) && (await arePolicies(bundle)))
    return await checkPolicies(bundle, others, session)
  // Otherwise an empty list of files would look like a successful check.
  if (paths.length === 0 && options.schema === undefined && options.strict === undefined)
    throw wrongUse("missing required argument 'path'")
  if (await arePolicies(paths)) return await checkPolicies(paths, options, session)
  if (usesShippedPolicies(findPolicies(options, terminal)) && (await arePolicies(paths, true))) {
    terminal.err(
      "Checking Rego only: directory 'policies' not found. Pass --policies DIR to check definitions.\n",
    )
    return await checkPolicies(paths, options, session)
  }
  await watchFiles(session, [
    ...policyFiles(options, terminal),
    ...paths,
    schemaFolder(options),
    options.exceptions,
  ])
  const policies = await openPolicies(options, terminal)
  const { config, snapshot, directories } = policies
  const load = loadOptions(config, terminal)
  if (options.strict) await compileAll(directories, options, load)
  const exceptions = await readExceptions(options, terminal)
  const checking = paths.length === 0 ? undefined : openChecking(policies, { form: options.as, exceptions })
  const warnings = [
    ...snapshot.warnings,
    ...(await findInputWarnings(directories, options, config.policies, load)),
    ...(checking?.problems ?? []),
  ]
  reportWarnings(warnings, options.format, terminal)
  const unevaluated = options.as === 'armory' ? undefined : listUnevaluated(policies)
  if (unevaluated !== undefined && options.format !== 'json') terminal.err(`${unevaluated}\n`)
  const locations = { directories, bundles: config.policies.bundles }
  const { results, portability } = await withRequests(config, terminal, async (requests) => {
    const configFile = options.config ?? terminal.env[CONFIG_FILE_VARIABLE]
    const others = new Set(await policyFilesIn(directories))
    for (const file of [configFile, options.exceptions]) if (file !== undefined) others.add(resolve(file))
    const reading = { form: options.as, others }
    const checked = await checkAll(paths, reading, { checking, requests, snapshot }, terminal)
    const portability =
      options.portable === true
        ? await checkPortability(locations, { load, requests }, snapshot, checked.queries)
        : undefined
    return { ...checked, portability }
  })
  const colours = makeColours(terminal.hasColours)
  const { format } = options
  if (format === 'json') outJson(terminal, { ...checkReportJson(results, warnings), portability })
  else if (format !== 'text') terminal.out(ciReport(format, results))
  else if (paths.length === 0) terminal.out(policyReportText(snapshot.packages.length, warnings.length))
  else terminal.out(checkReportText(results, colours))
  if (portability !== undefined && format !== 'json')
    terminal[format === 'text' ? 'out' : 'err'](portabilityText(portability, colours))
  const failures = portability?.findings.length ?? 0
  return exitCodeOf(results, failsOnWarnings(warnings, options) ? failures + 1 : failures)
}

/** Checks policies themselves, without evaluating them. */
async function checkPolicies(
  directories: readonly string[],
  options: CheckOptions,
  session: Session,
): Promise<ExitCode> {
  const { terminal } = session
  await watchFiles(session, [options.config, ...directories, schemaFolder(options)])
  const { config } = findPolicies({ ...options, policies: directories }, terminal)
  const load = { ...loadOptions(config, terminal), warnsOfRefusedBuiltins: true }
  const work = compileAll(directories, options, load).then(() =>
    loadServed({ directories, bundles: [] }, load),
  )
  const served = await new Progress(terminal).during('compiling policies …', work)
  const input = await findInputWarnings(directories, options, config.policies, load)
  // Like opa check, unknown members are errors. The default schemas are incomplete, so there they
  // are warnings.
  const areErrors = input.length > 0 && options.schema !== 'default'
  const warnings = areErrors ? served.warnings : [...served.warnings, ...input]
  reportWarnings(warnings, options.format, terminal)
  if (areErrors) throw compileError(input)
  if (options.format === 'json') outJson(terminal, checkReportJson([], warnings))
  else if (options.format !== 'text') terminal.out(ciReport(options.format, []))
  else terminal.out(policyReportText(served.packages.length, warnings.length))
  return failsOnWarnings(warnings, options) ? EXIT.denied : EXIT.fine
}

interface Checked {
  readonly results: readonly CheckResult[]
  /** Queries to compare with another host. */
  readonly queries: readonly HostQuery[]
}

interface CheckedWith {
  /** Undefined if only policies are checked. */
  readonly checking: Checking | undefined
  readonly requests: PolicyRequests
  readonly snapshot: Snapshot
}

async function checkAll(
  paths: readonly string[],
  reading: Parameters<typeof readPipelineFiles>[1],
  by: CheckedWith,
  terminal: Terminal,
): Promise<Checked> {
  const results: CheckResult[] = []
  const questions: HostQuery[] = []
  const { checking, requests, snapshot } = by
  if (checking === undefined) return { results, queries: questions }
  const progress = new Progress(terminal)
  for (const definition of await readPipelineFiles(paths, reading, terminal)) {
    progress.show(`checking … ${count(results.length, 'pipeline')}`)
    if ('error' in definition) results.push(definition)
    else {
      const result = await checkDefinition(definition.file, definition, checking, requests)
      results.push(withPositions(result, definition))
      questions.push(...queriesFor(definition, snapshot, checking.packages))
    }
  }
  progress.end()
  return { results, queries: questions }
}

/** Adds the positions of the definition and of the stages that the reasons name. */
function withPositions(result: CheckResult, { position, stages }: ReadDefinition): CheckResult {
  if (isUnchecked(result) || result.denials.length + result.warnings.length === 0)
    return { ...result, position }
  const finder = new StageFinder(stages())
  const locate = <R extends { readonly text: string }>(reason: R) => {
    return { ...reason, stage: finder.find(reason.text) }
  }
  return { ...result, position, denials: result.denials.map(locate), warnings: result.warnings.map(locate) }
}

/** Returns the queries that the packages' verdict consists of. */
function queriesFor(
  { file, name, input }: ReadDefinition,
  snapshot: Snapshot,
  packages: readonly string[],
): HostQuery[] {
  const subject = name === undefined ? file : `${file} "${name}"`
  return packages.flatMap((key) =>
    questionOf(snapshot, key).parts.map(({ entrypoint }) => ({ path: entrypoint.path, input, subject })),
  )
}

function exitCodeOf(results: readonly CheckResult[], otherFailures: number): ExitCode {
  const { errors, denied } = summarise(results)
  if (errors > 0) return EXIT.error
  return denied + otherFailures > 0 ? EXIT.denied : EXIT.fine
}

interface PolicyCheckOptions {
  /** True if probable mistakes are errors, as for `opa check --strict`. */
  readonly strict?: boolean | undefined
}

/** OPA stops after ten errors by default. */
const MAX_ERRORS = '10000'

/**
 * Returns whether all paths are Rego or directories of Rego without JSON and YAML other than data.
 * With `acceptsJson`, any Rego is enough.
 */
async function arePolicies(paths: readonly string[], acceptsJson = false): Promise<boolean> {
  const answers = await Promise.all(paths.map(async (path) => await holdsPolicies(path, acceptsJson)))
  return answers.length > 0 && answers.every((isRego) => isRego)
}

async function holdsPolicies(path: string, acceptsJson: boolean): Promise<boolean> {
  // Reading the path later reports the error.
  const tree = await listSourceTree(path).catch(() => undefined)
  if (tree === undefined) return false
  const { sources, passedOver } = tree
  const folders = sources.flatMap(({ file }) => (file.endsWith('.rego') ? [dirname(file)] : []))
  const isWithin = (file: string): boolean =>
    folders.some((folder) => !relative(folder, file).startsWith('..'))
  if (folders.length > 0 && acceptsJson) return true
  const isOther = (file: string): boolean => !isDefinitionFile(file) || isConfiguration(file)
  return folders.length > 0 && passedOver.every((file) => isOther(file) || isWithin(file))
}

/** Returns the absolute paths of the files that policies in directories consist of. */
async function policyFilesIn(directories: readonly string[]): Promise<ReadonlySet<string>> {
  const trees = await Promise.all(directories.map(async (directory) => await listSourceTree(directory)))
  return new Set(trees.flatMap(({ sources }) => sources.map(({ file }) => resolve(file))))
}

/**
 * Compiles all Rego, including tests, with `opa check`. Raises `invalid` with the location of each
 * error.
 */
async function compileAll(
  directories: readonly string[],
  { strict = false }: PolicyCheckOptions,
  { findOpa }: Pick<LoadOptions, 'findOpa'>,
): Promise<void> {
  const opa = await findOpa()
  const { rego } = await collectSources(directories, { includeTests: true })
  const modules = await parseModules(opa, rego)
  const toSource = sourceFiles(modules)
  await inTemporaryDirectory(async (cwd) => {
    await stageBundle(cwd, modules, new RegoObject([]))
    const check = async (format: 'json' | 'pretty') => {
      const flags = ['--format', format, '--max-errors', MAX_ERRORS, ...(strict ? ['--strict'] : [])]
      return await runOffline(opa, { command: 'check', flags: [...flags, '--bundle', '.'] }, { cwd })
    }
    const run = await check('json')
    if (run.exitCode === 0) return
    const errors = withTypes(readOpaErrors(run, toSource), await check('pretty'), toSource)
    throw compileError(await withNearNames(errors, modules, opa))
  })
}
