import { Command, CommanderError, Help } from 'commander'
import type { HelpConfiguration } from 'commander'

import { nearestName } from '../lib/text/nearest-name.js'
import { packageVersion } from '../lib/package-root.js'
import { waitForFiles } from '../lib/read-files.js'
import { commands } from './commands.js'
import type { ExitCode, Session } from './session/session.js'
import { reportFailure } from './output/report-failure.js'
import { hintForOpaCommand, hintForOpaFlag } from './session/opa-flags.js'
import { wrongUse } from './session/session.js'
import { newSession } from './session/session.js'
import { addOutputOptions, examples } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

const DESCRIPTION = 'Policy decisions for a continuous-delivery orchestrator.'
const HELP = `
Exit codes: 0 success, 1 denial or failed test, 2 usage error or failure.
Errors go to standard error; with --format json, to standard output as a JSON object.
${examples(
  'tidegate serve',
  'tidegate check pipeline.json',
  'tidegate --eval pipeline.json',
  'tidegate eval --help',
)}`

/** Runs a command line (without node and script) and returns the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const watches = args.includes('--watch') || args.includes('-w')
  // `serve --watch` watches policies and does not rerun the command.
  if (!watches || args[0] === 'serve') return (await runOnce(args, terminal)).exitCode
  const { runWatched } = await import('./session/watch.js')
  return await runWatched((shown) => runOnce(args, shown), terminal)
}

async function runOnce(args: readonly string[], terminal: Terminal): Promise<Session> {
  const session = newSession(terminal)
  try {
    const program = await makeProgram(args, session)
    await program.parseAsync([...args], { from: 'user' })
  } catch (raw) {
    const how = { isJson: wantsJson(args) || session.reportsJson === true, debug: args.includes('--debug') }
    session.exitCode = reportFailure(withHint(raw, args), terminal, how)
  }
  return session
}

/** Replaces the error for an unknown option by advice if `opa` has that option. */
function withHint(raw: unknown, args: readonly string[]): unknown {
  if (!(raw instanceof CommanderError) || raw.code !== 'commander.unknownOption') return raw
  const [first = '-'] = args
  // An unknown command comes before its options.
  if (!first.startsWith('-') && !commands.has(first)) return unknownCommand(first)
  const flag = /'([^'=]*)/.exec(raw.message)?.[1] ?? ''
  const hint = hintForOpaFlag(
    args.find((arg) => commands.has(arg)),
    flag,
  )
  return hint === undefined ? raw : wrongUse(`unknown option '${flag}': ${hint}`)
}

async function makeProgram(args: readonly string[], session: Session): Promise<Command> {
  const program = new Command('tidegate')
  configure(program, session)
    .description(DESCRIPTION)
    .version(packageVersion(), '-V, --version', 'print the version')
    .enablePositionalOptions()
    .addHelpText('after', HELP)
    .hook('preAction', (_, command) => {
      session.isWatched = command.getOptionValue('watch') === true
      if (session.terminal.ownsProcess && command.name() !== 'serve') waitForFiles()
    })
  if (isEvaluation(args)) await defineShortForm(program, session)
  else defineRoot(program)
  for (const [name, { summary, load }] of commands) {
    const command = configure(new Command(name), session).summary(summary)
    // Loads only the code of commands that are named.
    if (args.includes(name)) (await load())(command, session)
    program.addCommand(command)
  }
  return program
}

function configure(command: Command, { terminal }: Session): Command {
  return command
    .exitOverride()
    .helpOption('-h, --help', 'print this help')
    .configureHelp(HELP_TEXTS)
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err, outputError: () => undefined })
    .showSuggestionAfterError(true)
}

const help = new Help()
/**
 * Formats of commander's help: without empty defaults, without quotes around defaults, and with
 * required options marked.
 */
const HELP_TEXTS: HelpConfiguration = {
  optionDescription: (option) =>
    option.mandatory ? `${option.description} (required)` : plain(help.optionDescription(option)),
  argumentDescription: (argument) => plain(help.argumentDescription(argument)),
}

function plain(text: string): string {
  return text.replace(/ \(default: (?:""|\{\})\)$/, '').replace(/default: "([^"]*)"/, 'default: $1')
}

/** Defines `tidegate --eval FILE`, short for `tidegate eval --input FILE`. */
async function defineShortForm(program: Command, session: Session): Promise<void> {
  const { addEvaluationOptions, evaluate } = await import('./eval.js')
  type ShortOptions = Parameters<typeof evaluate>[0] & { readonly eval: string }
  addEvaluationOptions(program)
    .requiredOption('--eval <file>', 'evaluate this input with the default policies')
    .action(async ({ eval: input, ...options }: ShortOptions) => {
      session.exitCode = await evaluate({ ...options, input }, session)
    })
}

function defineRoot(program: Command): void {
  addOutputOptions(program)
    .option(
      '--eval <file>',
      'short form of eval: evaluate the default decision of the default policies on this input',
    )
    .allowExcessArguments()
    .action(() => {
      const [name] = program.args
      if (name !== undefined) throw unknownCommand(name)
      program.help({ error: true })
    })
}

function unknownCommand(name: string): Error {
  const ofOpa = hintForOpaCommand(name)
  if (ofOpa !== undefined) return wrongUse(`unknown command '${name}' (of opa): use ${ofOpa}`)
  const nearest = nearestName(name, [...commands.keys()])
  const hint =
    nearest === undefined ? `; commands are ${[...commands.keys()].join(', ')}` : `, did you mean ${nearest}?`
  return wrongUse(`unknown command '${name}'${hint}`)
}

function isEvaluation(args: readonly string[]): boolean {
  return args.some((arg) => arg === '--eval' || arg.startsWith('--eval='))
}

/** Searches the arguments, since an invalid command line has no parsed options. */
function wantsJson(args: readonly string[]): boolean {
  return args.some(
    (arg, index) =>
      ['--format=json', '-fjson'].includes(arg) ||
      (['--format', '-f'].includes(arg) && args[index + 1] === 'json'),
  )
}
