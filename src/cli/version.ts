import type { Command } from 'commander'

import { toError } from '../errors/app-error.js'
import { packageVersion } from '../lib/package-root.js'
import { findOpa } from '../pdp/opa/find-opa.js'
import { runOpa } from '../pdp/opa/run-opa.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { textTable } from './output/text-table.js'
import { addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface VersionOptions extends OutputOptions {
  readonly opa?: string
}

/** `tidegate version`: this program and what it works with. */
export function defineVersion(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Prints the versions of tidegate, of Node.js and of the opa program that would compile policies.',
    )
    .option('--opa <file>', 'the opa program to ask')
    .addHelpText('after', examples('tidegate version', 'tidegate version --format json'))
    .action(async (options: VersionOptions) => {
      session.exitCode = await printVersion(options, session.terminal)
    })
}

async function printVersion({ format, opa }: VersionOptions, terminal: Terminal): Promise<ExitCode> {
  const versions = {
    tidegate: packageVersion(),
    node: process.versions.node,
    opa: await opaVersion(opa, terminal),
  }
  if (format === 'json') outJson(terminal, versions)
  else terminal.out(textTable(Object.entries(versions)))
  return EXIT.fine
}

/** A machine that only loads bundles needs no opa. */
async function opaVersion(named: string | undefined, terminal: Terminal): Promise<string> {
  try {
    const program = await findOpa({ named, env: terminal.env })
    const { stdout } = await runOpa(program, ['version'])
    const version = /^Version:\s*(?<version>\S+)/m.exec(stdout)?.groups?.['version'] ?? 'unknown'
    return `${version} (from ${program.source})`
  } catch (raw) {
    return `none: ${toError(raw).message}`
  }
}
