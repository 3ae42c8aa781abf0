import type { Command } from 'commander'

import { AskedPackages } from '../pdp/lint/asked-packages.js'
import { canonicalJson } from '../lib/json/edit/canonical.js'
import { evaluateDocument, planDocument } from '../pdp/evaluation/evaluate-document.js'
import { EvaluationCost } from '../pdp/metering/evaluation-cost.js'
import type { EvaluationCall } from '../pdp/wasm/evaluation-call.js'
import { EXIT, watchFiles } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { evaluateAgain, withRequests } from './input/evaluate-once.js'
import { evaluateWithAnswers } from '../pdp/requests/evaluate-with-answers.js'
import { openPolicies, policyFiles } from './input/open-policies.js'
import { explainUndefined } from './input/explain-undefined.js'
import { parseEntrypoint } from './input/parse-entrypoint.js'
import { formText, readInputDocument } from './input/read-definitions.js'
import type { InputForm } from './input/read-definitions.js'
import { readDocument } from './input/read-document.js'
import { addInputFormOption, addOutputOptions, addPolicyOptions, examples } from './session/shared-options.js'
import type { OutputOptions, PolicyOptions } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

interface EvalOptions extends PolicyOptions, OutputOptions {
  readonly entrypoint?: string
  readonly input?: string
  readonly as?: InputForm
  readonly strictBuiltinErrors?: true
  readonly pretty?: true
  readonly cost?: true
  readonly ndBuiltinCache?: string
}

const HELP = examples(
  'tidegate eval --policies policies --entrypoint static/wait_time/deny --input pipeline.json',
  'tidegate eval --bundle bundle.tar.gz --entrypoint data.system.main --input - < input.json',
  'tidegate --eval pipeline.json      the default decision of the default policies',
)

/** `tidegate eval`: one decision, printed as OPA's Data API answers it. */
export function defineEval(command: Command, session: Session): void {
  addOutputOptions(addEvaluationOptions(command))
    .description(
      'Evaluates one rule or package and prints what the Data API answers: {"result": …}, or {} when it is undefined. Ends with 0 whatever the value; `tidegate check` judges.',
    )
    .option('--input <file>', 'the input as JSON or YAML, or - for standard input; none leaves it undefined')
    .addHelpText('after', HELP)
    .action(async (options: EvalOptions) => {
      session.exitCode = await evaluate(options, session)
    })
}

/** Adds the flags of an evaluation, except for its input. */
export function addEvaluationOptions(command: Command): Command {
  return addWatchOption(addInputFormOption(addPolicyOptions(command)))
    .option(
      '--entrypoint <path>',
      'what to evaluate, a/b/c or data.a.b.c (default: the configured default decision)',
    )
    .option('--strict-builtin-errors', 'end with an error when a built-in function fails')
    .option('--pretty', 'indent the result')
    .option(
      '--nd-builtin-cache <file>',
      'make a decision again: what http.send, time.now_ns, rand.intn … gave it, as `ndBuiltinCache` of the decision log has it; nobody is asked',
    )
    .option('--cost', 'tell on standard error what it took of policies.limits.loopIterations, by package')
}

/** Evaluates and prints. Raises `invalid` for a malformed input, `evaluation_failed` when the policy fails. */
export async function evaluate(options: EvalOptions, session: Session): Promise<ExitCode> {
  const { terminal } = session
  await watchFiles(session, [...policyFiles(options, terminal), options.input, options.ndBuiltinCache])
  const document = options.input === undefined ? undefined : await readDocument(options.input, terminal)
  const { config, snapshot } = await openPolicies(options, terminal, { includesPrint: true })
  const path = parseEntrypoint(options.entrypoint ?? config.policies.defaultDecision)
  const isAskedAtSave = options.entrypoint === undefined || isStatic(path, config.policies.staticPackages)
  const { input, note } = askedInput(document, isAskedAtSave, options.as)
  const tell = (text: string): void => {
    if (options.format === 'text') terminal.err(`${text}\n`)
  }
  if (note !== undefined) tell(note)
  const plan = planDocument(snapshot, path)
  const cost = new EvaluationCost()
  const strictBuiltinErrors = options.strictBuiltinErrors ?? false
  const printed: string[] = []
  const evaluation = (call: EvaluationCall): string | undefined => {
    printed.length = 0
    return evaluateDocument(plan, input, call)
  }
  const settings = { strictBuiltinErrors, cost, print: (line: string) => void printed.push(line) }
  const kept =
    options.ndBuiltinCache === undefined ? undefined : await readDocument(options.ndBuiltinCache, terminal)
  const work = withRequests(config, terminal, (requests) =>
    kept === undefined
      ? evaluateWithAnswers(evaluation, requests, settings)
      : evaluateAgain(evaluation, kept, requests, settings),
  )
  const result = await work.finally(() => printed.forEach((line) => terminal.err(`${line}\n`)))
  const answer = Buffer.from(result === undefined ? '{}' : `{"result":${result}}`)
  const shown = options.pretty ? canonicalJson(answer, 0, answer.length, { pretty: true }) : answer
  terminal.out(`${shown.toString()}\n`)
  if (result === undefined) tell(explainUndefined(snapshot, path))
  if (options.cost === true) terminal.err(costText(cost, config.policies.limits.loopIterations))
  return EXIT.fine
}

function isStatic(path: readonly string[], patterns: readonly string[]): boolean {
  return new AskedPackages(patterns).callerKindOf(path) === 'static'
}

/**
 * The input, and a word on how it was made of the document. What is asked when a pipeline is saved is asked as `check` asks it; any other
 * path gets the document as it is.
 */
function askedInput(
  document: Uint8Array | undefined,
  isAskedAtSave: boolean,
  as: InputForm | undefined,
): { input: Uint8Array | undefined; note?: string } {
  if (document === undefined) return { input: undefined }
  const { input, form } = readInputDocument(document, isAskedAtSave ? as : (as ?? 'raw'))
  if (as !== undefined || form === 'raw') return { input }
  return { input, note: `asked as ${formText(form)}, as tidegate check does; --as raw asks it as it is` }
}

/** A line for each package, the dearest first, and one for all. */
function costText({ fuel, packages, packageFuel }: EvaluationCost, limit: number): string {
  const rows = packages.map((name, place) => ({ name, fuel: packageFuel[place] ?? 0 }))
  const lines = rows.sort((a, b) => b.fuel - a.fuel).map((row) => `${row.fuel} ${row.name}\n`)
  return `${lines.join('')}${fuel} of ${limit} loop iterations\n`
}
