import type { Command } from 'commander'

import { canonicalJson } from '../lib/json/edit/canonical.js'
import { evaluateDocument, planDocument } from '../pdp/evaluation/evaluate-document.js'
import { newCall } from '../pdp/evaluation/new-call.js'
import { EvaluationCost } from '../pdp/metering/evaluation-cost.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { openPolicies } from './input/open-policies.js'
import { parseEntrypoint } from './input/parse-entrypoint.js'
import { readDocument } from './input/read-document.js'
import { addOutputOptions, addPolicyOptions, examples } from './session/shared-options.js'
import type { OutputOptions, PolicyOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface EvalOptions extends PolicyOptions, OutputOptions {
  readonly entrypoint?: string
  readonly input?: string
  readonly strictBuiltinErrors?: true
  readonly pretty?: true
  readonly cost?: true
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
      session.exitCode = await evaluate(options, session.terminal)
    })
}

/** Adds the flags of an evaluation, except for its input. */
export function addEvaluationOptions(command: Command): Command {
  return addPolicyOptions(command)
    .option(
      '--entrypoint <path>',
      'what to evaluate, a/b/c or data.a.b.c (default: the configured default decision)',
    )
    .option('--strict-builtin-errors', 'end with an error when a built-in function fails')
    .option('--pretty', 'indent the result')
    .option('--cost', 'tell on standard error what it took of policies.limits.loopIterations, by package')
}

/** Evaluates and prints. Raises `invalid` for a malformed input, `evaluation_failed` when the policy fails. */
export async function evaluate(options: EvalOptions, terminal: Terminal): Promise<ExitCode> {
  const input = options.input === undefined ? undefined : await readDocument(options.input, terminal)
  const { config, snapshot } = await openPolicies(options, terminal)
  const plan = planDocument(snapshot, parseEntrypoint(options.entrypoint ?? config.policies.defaultDecision))
  const cost = new EvaluationCost()
  const call = newCall({ strictBuiltinErrors: options.strictBuiltinErrors ?? false, cost })
  const result = evaluateDocument(plan, input, call)
  const answer = Buffer.from(result === undefined ? '{}' : `{"result":${result}}`)
  const shown = options.pretty ? canonicalJson(answer, 0, answer.length, { pretty: true }) : answer
  terminal.out(`${shown.toString()}\n`)
  if (options.cost === true) terminal.err(costText(cost, config.policies.limits.loopIterations))
  return EXIT.fine
}

/** A line for each package, the dearest first, and one for all. */
function costText({ fuel, packages, packageFuel }: EvaluationCost, limit: number): string {
  const rows = packages.map((name, place) => ({ name, fuel: packageFuel[place] ?? 0 }))
  const lines = rows.sort((a, b) => b.fuel - a.fuel).map((row) => `${row.fuel} ${row.name}\n`)
  return `${lines.join('')}${fuel} of ${limit} loop iterations\n`
}
