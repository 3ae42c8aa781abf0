import { relative } from 'node:path'

import type { Command } from 'commander'

import { collectSources } from '../../pdp/compile/collect-sources.js'
import { parseModules } from '../../pdp/compile/parse-modules.js'
import type { RegoModule } from '../../pdp/compile/rego-module.js'
import { regoVersionFlags } from '../../pdp/opa/opa-release.js'
import { runOpa } from '../../pdp/opa/run-opa.js'
import { EXIT } from '../session/session.js'
import type { ExitCode, Session } from '../session/session.js'
import { addConfigOption, addOutputOptions, addVersionOptions, examples } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { openOpa } from './pass-on.js'
import type { PassOnOptions } from './pass-on.js'

interface FormatOptions extends PassOnOptions {
  readonly write?: true
  readonly list?: true
  readonly diff?: true
  readonly fail?: true
}

/** As many files as a command line surely takes. */
const FILES_AT_ONCE = 200
const IMPORT = /^import rego\.v1\s*$/m

/** `tidegate fmt`: `opa fmt` over the files that are policies here, each in the version of Rego that it is written in. */
export function defineFormat(command: Command, session: Session): void {
  addConfigOption(addOutputOptions(addVersionOptions(command, ['--v0-compatible'])))
    .description(
      'Formats Rego with opa fmt: all files of the directories, tests too, each in the version of Rego that it is written in. Prints them, or with --list the names of those that are not formatted. Exits with 1 where --fail finds one.',
    )
    .argument('[dir...]', 'directories of Rego (else those of the configuration)')
    .option('-w, --write', 'overwrite the files')
    .option('-l, --list', 'name the files that are not formatted')
    .option('-d, --diff', 'show what would change')
    .option('--fail', 'exit with 1 where a file is not formatted')
    .option('--opa <file>', 'the opa program to format with')
    .addHelpText('after', examples('tidegate fmt --list --fail', 'tidegate fmt policies --write'))
    .action(async (directories: readonly string[], options: FormatOptions) => {
      session.exitCode = await format(directories, options, session.terminal)
    })
}

async function format(
  named: readonly string[],
  options: FormatOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { config, opa } = await openOpa(options, terminal)
  const directories = named.length > 0 ? named : config.policies.directories
  const { rego } = await collectSources(directories, { includeTests: true })
  // As opa goes through its arguments.
  const place = (file: string): number =>
    directories.findIndex((directory) => !relative(directory, file).startsWith('..'))
  const modules = (await parseModules(opa, rego)).sort((one, other) => place(one.file) - place(other.file))
  const names = (wanted: (module: RegoModule) => boolean): string[] =>
    modules.filter(wanted).map(({ file }) => file)
  const groups: readonly (readonly [versionFlags: readonly string[], files: readonly string[]])[] = [
    // A file that says that it is of version 1 is formatted so by any release, and keeps saying it.
    [[], names(({ text }) => IMPORT.test(text))],
    [await regoVersionFlags(opa, 0), names(({ text, version }) => version === 0 && !IMPORT.test(text))],
    [await regoVersionFlags(opa, 1), names(({ text, version }) => version === 1 && !IMPORT.test(text))],
  ]
  let exitCode: ExitCode = EXIT.fine
  for (const [versionFlags, files] of groups) {
    for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
      const some = files.slice(from, from + FILES_AT_ONCE)
      const run = await runOpa(opa, ['fmt', ...flagsOf(options), ...versionFlags, ...some])
      terminal.out(run.stdout)
      terminal.err(run.stderr)
      const found = options.fail === true && (showsFindings(options) ? run.stdout !== '' : run.exitCode !== 0)
      if (found) exitCode = EXIT.denied
      else if (run.exitCode !== 0) exitCode = EXIT.error
    }
  }
  return exitCode
}

/** With `--fail`, opa stops at the first file that it lists. */
function flagsOf(options: FormatOptions): string[] {
  const names = (['write', 'list', 'diff'] as const).flatMap((name) => (options[name] ? [`--${name}`] : []))
  return options.fail && !showsFindings(options) ? [...names, '--fail'] : names
}

function showsFindings({ list, diff }: FormatOptions): boolean {
  return list === true || diff === true
}
