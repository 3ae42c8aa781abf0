import type { Command } from 'commander'

import { EXIT } from './exit-code.js'
import type { ExitCode } from './exit-code.js'
import type { Terminal } from './terminal.js'

/** One run of the command line. */
export interface Session {
  readonly terminal: Terminal
  /** What the command that ran gave. */
  exitCode: ExitCode
}

/** Adds one command to the program. */
export type DefineCommand = (command: Command, session: Session) => void

/** A new session that has not failed yet. */
export function newSession(terminal: Terminal): Session {
  return { terminal, exitCode: EXIT.fine }
}
