import { Command } from 'commander'

import { packageVersion } from '../../lib/package-root.js'
import type { DefineCommand, Session } from '../session/session.js'

/** All commands by name, with their code: only what tells of all commands must know every flag. */
export type LoadCommands = () => Promise<ReadonlyMap<string, DefineCommand>>

/** The program with every command and flag. */
export async function wholeProgram(loadCommands: LoadCommands, session: Session): Promise<Command> {
  const program = new Command('tidegate').version(packageVersion())
  for (const [name, define] of await loadCommands()) {
    const command = new Command(name)
    define(command, session)
    program.addCommand(command)
  }
  return program
}
