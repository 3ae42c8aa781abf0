import { Option } from 'commander'
import type { Command } from 'commander'
import type { Config } from '../config/config.js'
import { Subject } from '../enforcement/about/subject.js'
import { Levels, levelFor } from '../enforcement/levels.js'
import { explanationText } from '../explain/explanation-text.js'
import { escapeControls } from '../lib/text/shown-text.js'
import {
  EvaluatedPackages,
  EvaluationCost,
  evaluateDocument,
  evaluateWithAnswers,
  explainUndefined,
  parseDuration,
  pathKey,
  planDocument,
  printDataRef,
  printPackageName,
  strictnessOf,
  EXPLAIN_MODES,
  type EvaluationCall,
  type ExplainMode,
  type Explanation,
  type Strictness,
  evaluateTraced,
  explainEvaluations,
  loadTraced,
  printJson,
  type Question,
} from '../rego/index.js'
import { EVAL_FORMATS, showAnswer, showQueryResult } from './eval/show-result.js'
import type { EvalFormat } from './eval/show-result.js'
import { replayDecision, withRequests } from './input/evaluate-once.js'
import { openPolicies, policyFiles, loadOptions } from './input/open-policies.js'
import type { OpenPolicies } from './input/open-policies.js'
import { parseEntrypoint, parseQuery } from './input/parse-entrypoint.js'
import { formText, readInputDocument } from './input/read-definitions.js'
import type { InputForm } from './input/read-definitions.js'
import { STDIN, readDocument } from './input/read-document.js'
import { Progress } from './output/progress.js'
import { EXIT, watchFiles, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import {
  addInputFormOption,
  addPolicyOptions,
  addVersionOptions,
  allDataOption,
  examples,
} from './session/shared-options.js'
import type { PolicyOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'

interface EvalOptions extends PolicyOptions {
  readonly query?: string | undefined
  readonly format?: EvalFormat
  readonly entrypoint?: string
  readonly input?: string
  readonly stdinInput?: true
  readonly fail?: true
  readonly failDefined?: true
  readonly as?: InputForm
  readonly strictBuiltinErrors?: true
  readonly pretty?: true
  readonly cost?: true
  readonly ndBuiltinCache?: string
  readonly explain?: ExplainMode
}

const NS_PER_MS = 1e6
const HELP = examples(
  'tidegate eval --policies policies --entrypoint static/wait_time/deny --input pipeline.json',
  'tidegate eval --bundle bundle.tar.gz --entrypoint data.system.main --input - < input.json',
  'tidegate eval -d policies -i pipeline.json -f raw data.static.wait_time.deny      like opa eval',
  'tidegate --eval pipeline.json      the default decision of the default policies',
)

/** `tidegate eval`: makes one decision and prints it like the Data API. */
export function defineEval(command: Command, session: Session): void {
  addEvaluationOptions(command)
    .description(
      'Evaluates one rule or package and prints the response of the Data API: {"result": …}, or {} if it is undefined; with a query, the output of opa eval. Exits with 0 whatever the value; use `tidegate check` for verdicts.',
    )
    .argument('[query]', 'what to evaluate, like opa eval: data.a.b or a/b; the input is used verbatim')
    .option('-i, --input <file>', 'input as JSON or YAML; - for standard input (default: undefined)')
    .option('-I, --stdin-input', 'read the input from standard input, like --input -')
    .option('--fail', 'exit with 1 if the result is undefined')
    .option('--fail-defined', 'exit with 1 if the result is defined')
    .addHelpText('after', HELP)
    .action(async (query: string | undefined, options: EvalOptions) => {
      session.exitCode = await evaluate({ ...options, query }, session)
    })
}

/** Adds the flags of an evaluation except for its input. */
export function addEvaluationOptions(command: Command): Command {
  return addVersionOptions(addWatchOption(addInputFormOption(addPolicyOptions(command))))
    .addOption(allDataOption())
    .option(
      '-e, --entrypoint <path>',
      'what to evaluate, a/b/c or data.a.b.c (default: the configured default decision)',
    )
    .addOption(
      new Option(
        '-f, --format <format>',
        'text for people; json for programs, with errors on standard output; or a format of opa eval',
      ).choices(EVAL_FORMATS),
    )
    .addOption(
      new Option(
        '--timeout <duration>',
        'maximum duration, such as 5s (default: policies.limits.maxDurationMs)',
      ).argParser(readDuration),
    )
    .option(
      '--strict-builtin-errors',
      'fail if a built-in function fails, as verdicts always do (policies.strictBuiltinErrors)',
    )
    .option('--pretty', 'indent the result')
    .option(
      '--nd-builtin-cache <file>',
      'replay a decision with its recorded results of http.send, time.now_ns, rand.intn …, from `ndBuiltinCache` in the decision log; no requests are sent',
    )
    .addOption(
      new Option(
        '--explain <mode>',
        'show rules with their locations, conditions and values: notes for those that fired, fails for the first condition that does not hold, full for both (debug is the same, as in OPA); to standard error, or as `explanation` in json',
      ).choices(EXPLAIN_MODES),
    )
    .option(
      '--cost',
      'print the evaluation cost by package to standard error, counted against policies.limits.loopIterations',
    )
    .option('--debug', 'show stack traces of errors')
}

/**
 * Evaluates and prints. Raises `invalid` for a malformed input, and `evaluation_failed` if the
 * policy fails.
 */
export async function evaluate(options: EvalOptions, session: Session): Promise<ExitCode> {
  const { terminal } = session
  const { query, format = query === undefined ? undefined : 'json' } = options
  session.reportsJson = format === 'json'
  const file = inputFile(options)
  await watchFiles(session, [...policyFiles(options, terminal), file, options.ndBuiltinCache])
  const document = file === undefined ? undefined : await readDocument(file, terminal)
  const queried = query === undefined ? undefined : parseQuery(query)
  const policies = await openPolicies(options, terminal, { includesPrint: true })
  const { config, snapshot } = policies
  const path = queried ?? parseEntrypoint(options.entrypoint ?? config.policies.defaultDecision)
  const isForPeople = format === undefined || format === 'text' || format === 'pretty'
  const tell = (text: string): void => {
    if (isForPeople) terminal.err(`${text}\n`)
  }
  const isEvaluatedAtSave =
    query === undefined &&
    (options.entrypoint === undefined || isStatic(path, config.policies.staticPackages))
  const { input, note } = evaluationInput(document, isEvaluatedAtSave, options.as)
  if (note !== undefined) tell(note)
  const level = query === undefined ? levelNote(policies, path, input) : undefined
  if (level !== undefined) tell(level)
  const strictness = strictnessFor(path, options, config)
  const request = { path, input, strictness, ndBuiltinCache: await recordedCalls(options, terminal) }
  const explained = (): Promise<Explanation> | undefined =>
    options.explain && explainInput(policies, request, options.explain, terminal)
  const { result, cost } = await evaluateOnce(policies, request, terminal).catch(async (raw: unknown) => {
    if (!session.reportsJson) reportExplanation(await explained(), policies, terminal)
    throw raw
  })
  const explanation = await explained()
  const isAnswer = query === undefined && (format === undefined || format === 'text' || format === 'json')
  const shown = isAnswer
    ? showAnswer(result, options.pretty, session.reportsJson ? explanation : undefined)
    : showQueryResult(query ?? printDataRef(path), result, format ?? 'json', explanation)
  terminal.out(escapeControls(shown))
  if (!session.reportsJson) reportExplanation(explanation, policies, terminal)
  if (result === undefined) tell(explainUndefined(snapshot, path, true))
  if (options.cost === true) terminal.err(costText(cost, config.policies.limits.loopIterations))
  const isFailure = result === undefined ? options.fail : options.failDefined
  return isFailure === true ? EXIT.denied : EXIT.fine
}

/** Prints an explanation for people, and the bundles that it cannot explain. */
function reportExplanation(
  explanation: Explanation | undefined,
  { snapshot }: OpenPolicies,
  terminal: Terminal,
): void {
  if (explanation === undefined) return
  terminal.err(explanationText(explanation))
  for (const name of snapshot.withoutRego)
    terminal.err(`${name} contains no Rego, so its rules cannot be explained\n`)
}

function recordedCalls(
  { ndBuiltinCache: file }: EvalOptions,
  terminal: Terminal,
): Promise<Uint8Array> | undefined {
  return file === undefined ? undefined : readDocument(file, terminal)
}

/** Returns the value as JSON and the cost. Output of `print` goes to standard error. */
async function evaluateOnce(
  { config, snapshot }: OpenPolicies,
  { path, input, strictness, ndBuiltinCache: kept }: ExplainedInput,
  terminal: Terminal,
): Promise<{ result: string | undefined; cost: EvaluationCost }> {
  const plan = planDocument(snapshot, path)
  const cost = new EvaluationCost()
  const printed: string[] = []
  const evaluation = (call: EvaluationCall): string | undefined => {
    printed.length = 0
    return evaluateDocument(plan, input, call)
  }
  const settings = { ...strictness, cost, print: (line: string) => void printed.push(line) }
  const work = withRequests(config, terminal, (requests) =>
    kept === undefined
      ? evaluateWithAnswers(evaluation, requests, settings)
      : replayDecision(evaluation, kept, requests, settings),
  )
  const result = await work.finally(() =>
    printed.forEach((line) => terminal.err(`${escapeControls(line)}\n`)),
  )
  return { result, cost }
}

/** Returns the input file. Raises `invalid` for contradicting flags. */
function inputFile({
  input,
  stdinInput,
  fail,
  failDefined,
  query,
  entrypoint,
}: EvalOptions): string | undefined {
  if (query !== undefined && entrypoint !== undefined)
    throw wrongUse('query and --entrypoint cannot be combined')
  if (fail && failDefined) throw wrongUse('--fail and --fail-defined cannot be combined')
  if (stdinInput && input !== undefined) throw wrongUse('--stdin-input and --input cannot be combined')
  return stdinInput ? STDIN : input
}

/** Returns milliseconds, at least one. */
function readDuration(text: string): number {
  try {
    return Math.max(1, Math.ceil(Number(parseDuration(text)) / NS_PER_MS))
  } catch {
    throw wrongUse(`--timeout must be a duration such as 500ms or 5s, not '${text}'`)
  }
}

/**
 * Returns the strictness that the service would use for the path: that of a verdict if a caller
 * uses it as one. A query is evaluated like `opa eval`.
 */
function strictnessFor(
  path: readonly string[],
  { query, strictBuiltinErrors }: EvalOptions,
  { policies: { strictBuiltinErrors: setting, staticPackages } }: Config,
): Strictness {
  const evaluated = new EvaluatedPackages(staticPackages)
  const isEvaluated = [path, path.slice(0, -1)].some((name) => evaluated.callerKindOf(name) !== 'nobody')
  const isVerdict = query === undefined && isEvaluated
  if (strictBuiltinErrors === true) return { strictBuiltinErrors, isVerdict }
  return strictnessOf(setting, isVerdict)
}

function isStatic(path: readonly string[], patterns: readonly string[]): boolean {
  return new EvaluatedPackages(patterns).callerKindOf(path) === 'static'
}

/**
 * Returns the input and a note if it was wrapped. Static policies get it wrapped, like `check`;
 * other paths get the document verbatim.
 */
function evaluationInput(
  document: Uint8Array | undefined,
  isEvaluatedAtSave: boolean,
  as: InputForm | undefined,
): { input: Uint8Array | undefined; note?: string } {
  if (document === undefined) return { input: undefined }
  const { input, form } = readInputDocument(document, isEvaluatedAtSave ? as : (as ?? 'raw'))
  if (as !== undefined || form === 'raw') return { input }
  return {
    input,
    note: `evaluated as ${formText(form)}, like tidegate check; use --as raw for the document itself`,
  }
}

/** Returns a note if verdicts do not deny by the package of the path. */
function levelNote(
  { config, snapshot }: OpenPolicies,
  path: readonly string[],
  input: Uint8Array | undefined,
): string | undefined {
  const found = [path, path.slice(0, -1)].find((name) => snapshot.packages.includes(pathKey(name)))
  if (found === undefined) return undefined
  const stated = new Levels(config.policies.levels).of(snapshot, pathKey(found))
  const level = levelFor(stated, new Subject(input), Date.now())
  if (level === 'enforce') return undefined
  return `${printPackageName(found)} is at the level ${level} for this input, so it does not deny in tidegate check and in the service`
}

/** Returns the cost by package, most expensive first, and in total. */
function costText({ fuel, packages, packageFuel }: EvaluationCost, limit: number): string {
  const rows = packages.map((name, place) => ({ name, fuel: packageFuel[place] ?? 0 }))
  const lines = rows.sort((a, b) => b.fuel - a.fuel).map((row) => `${Math.round(row.fuel)} ${row.name}\n`)
  return `${lines.join('')}${Math.round(fuel)} of ${limit} loop iterations\n`
}

/** An evaluation to explain. */
interface ExplainedInput {
  readonly path: readonly string[]
  readonly input: Uint8Array | undefined
  readonly strictness: Strictness
  /** Recorded results of built-ins, instead of new ones. */
  readonly ndBuiltinCache: Uint8Array | undefined
}

/**
 * Evaluates again with markers and explains the result. Raises as `loadTraced`; an evaluation that
 * fails is explained up to its failure.
 */
async function explainInput(
  { config, snapshot }: OpenPolicies,
  { path, input, strictness, ndBuiltinCache }: ExplainedInput,
  mode: ExplainMode,
  terminal: Terminal,
): Promise<Explanation> {
  const question: Question = { kind: 'document', path }
  const data = [{ file: 'data.json', at: [], content: Buffer.from(printJson(snapshot.data)) }]
  const loading = loadTraced({ rego: snapshot.rego, data }, [path], loadOptions(config, terminal))
  const traced = await new Progress(terminal).during('compiling with markers …', loading)
  const { trace } = await withRequests(config, terminal, (requests) =>
    evaluateTraced(traced, question, input, (evaluate, options) =>
      ndBuiltinCache === undefined
        ? evaluateWithAnswers(evaluate, requests, { ...strictness, ...options })
        : replayDecision(evaluate, ndBuiltinCache, requests, { ...strictness, ...options }),
    ),
  )
  return explainEvaluations(traced, [{ question, trace }], mode)
}
