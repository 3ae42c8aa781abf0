import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'

import { loadConfig } from '../config/load-config.js'
import { loadOptions } from './input/open-policies.js'
import { defineInstall } from './opa/install.js'
import { EXIT, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addConfigOption, examples, policyFlags } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface OpaOptions {
  readonly config?: string
  readonly opa?: string
}

/** `tidegate opa`: installs the program that compiles policies, or runs it. */
export function defineOpa(command: Command, session: Session): void {
  addConfigOption(command)
    .description(
      'Runs the opa program that tidegate compiles policies with; its arguments follow --. tidegate version shows which one it is.',
    )
    .argument('[args...]', 'arguments of opa, after --')
    .option('--opa <file>', 'the opa program to run')
    .addHelpText(
      'after',
      examples(
        'tidegate opa -- fmt --list policies',
        'tidegate opa -- inspect bundle.tar.gz',
        'tidegate opa install',
      ),
    )
    .action(async (args: readonly string[], options: OpaOptions) => {
      if (args.length === 0)
        throw wrongUse('no arguments for opa: write them after --, as in tidegate opa -- version')
      session.exitCode = await runOpaProgram(args, options, session.terminal)
    })
  defineInstall(command.command('install'), session)
}

/** Runs opa as the caller would, with the caller's files and environment. The exit code is 2 for each that is not opa's 0 or 1. */
async function runOpaProgram(
  args: readonly string[],
  options: OpaOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  const { path } = await loadOptions(config, terminal).findOpa()
  const child = spawn(path, args, { stdio: ['inherit', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', terminal.out)
  child.stderr.setEncoding('utf8').on('data', terminal.err)
  const [code] = (await once(child, 'close')) as [number | null]
  return code === EXIT.fine || code === EXIT.denied ? code : EXIT.error
}
