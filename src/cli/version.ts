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

/** `tidegate version`: prints the versions of this program and its tools. */
export function defineVersion(command: Command, session: Session): void {
  addOutputOptions(command)
    .description('Prints the versions of tidegate, Node.js and the opa program that compiles policies.')
    .option('--opa <file>', 'opa program to report')
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
  /** Why this program was chosen. */
  readonly reason?: string
}

/** Bundles need no opa. */
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
