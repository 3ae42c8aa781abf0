import { AppError } from '../../errors/app-error.js'
import type { Command } from 'commander'

import { recordFiles } from './watched-files.js'
import type { WatchedFiles } from './watched-files.js'
import type { Terminal } from './terminal.js'

/** How a command ended, for the shell. */
export const EXIT = {
  fine: 0,
  /** A pipeline was denied, a test failed, or the service could not close all its parts. */
  denied: 1,
  /** Wrong use, or something could not be done. */
  error: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One run of the command line. */
export interface Session {
  readonly terminal: Terminal
  /** What the command that ran gave. */
  exitCode: ExitCode
  /** Whether the command that ran was told to show again what changes. */
  isWatched: boolean
  /** Whether the command that ran tells errors as JSON though no flag says so. */
  reportsJson?: boolean
  /** What the command reads, where it is watched. */
  files?: WatchedFiles
}

/** Adds one command to the program. */
export type DefineCommand = (command: Command, session: Session) => void

/** A new session that has not failed yet. */
export function newSession(terminal: Terminal): Session {
  return { terminal, exitCode: EXIT.fine, isWatched: false }
}

/** The error for a command line that cannot be understood. */
export function wrongUse(message: string): AppError {
  return new AppError('invalid', message, { code: 'wrong_use' })
}

/**
 * Notes what a command that is watched reads, before it does: it runs again when one of these changes. Raises `invalid` for standard input, which
 * cannot be read again.
 */
export async function watchFiles(session: Session, paths: readonly (string | undefined)[]): Promise<void> {
  if (!session.isWatched) return
  if (paths.includes('-')) throw wrongUse('--watch cannot read standard input again: name a file')
  session.files = await recordFiles(paths.filter((path) => path !== undefined))
}
