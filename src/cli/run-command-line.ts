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

const DESCRIPTION = 'Policy decisions beside a continuous-delivery orchestrator.'
const HELP = `
Exit codes: 0 fine, 1 a denial or a failed test, 2 wrong use or an error.
Errors go to standard error; with --format json they are a JSON object on standard output.
${examples(
  'tidegate serve',
  'tidegate check pipeline.json',
  'tidegate --eval pipeline.json',
  'tidegate eval --help',
)}`

/** Runs one command line (without the names of node and the script) to its end and gives the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const watches = args.includes('--watch') || args.includes('-w')
  // `serve` watches policies, and never ends by itself.
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

/** Somebody who knows `opa` writes its flags. */
function withHint(raw: unknown, args: readonly string[]): unknown {
  if (!(raw instanceof CommanderError) || raw.code !== 'commander.unknownOption') return raw
  const [first = '-'] = args
  // Its flags would be those of a command that is not there.
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
      // The service has most of its code still to load.
      if (command.name() === 'serve') return
      waitForFiles()
    })
  if (isEvaluation(args)) await defineShortForm(program, session)
  else defineRoot(program)
  for (const [name, { summary, load }] of commands) {
    const command = configure(new Command(name), session).summary(summary)
    // Only the code of a command that is named is loaded.
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
/** What commander says of options and arguments, without a default that is nothing or marks around one, and with what must be given. */
const HELP_TEXTS: HelpConfiguration = {
  optionDescription: (option) =>
    option.mandatory ? `${option.description} (required)` : plain(help.optionDescription(option)),
  argumentDescription: (argument) => plain(help.argumentDescription(argument)),
}

function plain(text: string): string {
  return text.replace(/ \(default: (?:""|\{\})\)$/, '').replace(/default: "([^"]*)"/, 'default: $1')
}

/** Without a command: `tidegate --eval FILE`, as `tidegate eval --input FILE`. */
async function defineShortForm(program: Command, session: Session): Promise<void> {
  const { addEvaluationOptions, evaluate } = await import('./eval.js')
  type ShortOptions = Parameters<typeof evaluate>[0] & { readonly eval: string }
  addEvaluationOptions(program)
    .requiredOption('--eval <file>', 'evaluate this input against the default policies')
    .action(async ({ eval: input, ...options }: ShortOptions) => {
      session.exitCode = await evaluate({ ...options, input }, session)
    })
}

function defineRoot(program: Command): void {
  addOutputOptions(program)
    .option(
      '--eval <file>',
      'the short form of eval: this input, the default decision of the default policies',
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
  if (ofOpa !== undefined) return wrongUse(`unknown command '${name}' of opa: use ${ofOpa}`)
  const nearest = nearestName(name, [...commands.keys()])
  const hint =
    nearest === undefined ? `; there are ${[...commands.keys()].join(', ')}` : `, did you mean ${nearest}?`
  return wrongUse(`unknown command '${name}'${hint}`)
}

function isEvaluation(args: readonly string[]): boolean {
  return args.some((arg) => arg === '--eval' || arg.startsWith('--eval='))
}

/** Looked up by hand, since a command line that cannot be parsed has no options. */
function wantsJson(args: readonly string[]): boolean {
  return args.some(
    (arg, index) =>
      ['--format=json', '-fjson'].includes(arg) ||
      (['--format', '-f'].includes(arg) && args[index + 1] === 'json'),
  )
}
