import type { Command } from 'commander'

import { toError } from '../errors/app-error.js'
import { packageVersion } from '../lib/package-root.js'
import { findOpa, opaRelease, whyOpa } from '../rego/index.js'
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
  const { version, path, reason } = await opaVersion(opa, terminal)
  const versions = { tidegate: packageVersion(), node: process.versions.node, opa: version }
  if (format === 'json') outJson(terminal, { ...versions, opaPath: path, opaReason: reason })
  else {
    const details = [path, reason].flatMap((text) => (text === undefined ? [] : [['', text]]))
    terminal.out(textTable([...Object.entries(versions), ...details]))
  }
  return EXIT.fine
}

interface OpaVersion {
  readonly version: string
  readonly path?: string
  /** Why that program and no other. */
  readonly reason?: string
}

/** A machine that only loads bundles needs no opa. */
async function opaVersion(named: string | undefined, terminal: Terminal): Promise<OpaVersion> {
  try {
    const program = await findOpa({ named, env: terminal.env })
    const version = await opaRelease(program)
    return {
      version: `${version} (from ${program.source})`,
      path: program.path,
      reason: whyOpa(program),
    }
  } catch (raw) {
    return { version: `none: ${toError(raw).message}` }
  }
}
