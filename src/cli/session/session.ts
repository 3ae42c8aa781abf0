import { AppError } from '../../errors/app-error.js'
import type { Command } from 'commander'

import { recordFiles } from './watched-files.js'
import type { WatchedFiles } from './watched-files.js'
import type { Terminal } from './terminal.js'

/** Exit codes. */
export const EXIT = {
  fine: 0,
  /** A pipeline was denied, a test failed, or a component could not be closed. */
  denied: 1,
  /** Usage error or failure. */
  error: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A run of the command line. */
export interface Session {
  readonly terminal: Terminal
  exitCode: ExitCode
  /** True if the command runs with `--watch`. */
  isWatched: boolean
  /** True if the command reports errors as JSON without `--format json`. */
  reportsJson?: boolean
  /** Files that the watched command depends on. */
  files?: WatchedFiles
}

/** Defines a command. */
export type DefineCommand = (command: Command, session: Session) => void
export function newSession(terminal: Terminal): Session {
  return { terminal, exitCode: EXIT.fine, isWatched: false }
}

/** Creates a usage error. */
export function wrongUse(message: string): AppError {
  return new AppError('invalid', message, { code: 'wrong_use' })
}

/**
 * Records the files of a watched command before it reads them. It runs again when one changes.
 * Raises `invalid` for standard input, which cannot be read twice.
 */
export async function watchFiles(session: Session, paths: readonly (string | undefined)[]): Promise<void> {
  if (!session.isWatched) return
  if (paths.includes('-')) throw wrongUse('--watch cannot read standard input again: name a file')
  session.files = await recordFiles(paths.filter((path) => path !== undefined))
}
