import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'

import type { WatchedFiles } from './watched-files.js'
import { EXIT } from './session.js'
import type { ExitCode } from './session.js'
import type { Terminal } from './terminal.js'

/** Polling intervals for services and files, in milliseconds. */
const SERVICE_POLL_MS = 2000
const FILE_POLL_MS = 300
/** Moves the cursor to the top left and clears the screen (ECMA-48, CUP and ED). */
const CLEAR = '\u001B[H\u001B[2J'

/** Result of a run. */
export interface WatchedRun {
  readonly exitCode: ExitCode
  /** True if the command ran with `--watch`. */
  readonly isWatched: boolean
  /** Files to watch; undefined for commands that poll a service. */
  readonly files?: WatchedFiles | undefined
}

/** Adds `--watch`. */
export function addWatchOption(command: Command): Command {
  return command.option('-w, --watch', 'run again whenever something changes, until Ctrl-C')
}

/**
 * Runs a command line repeatedly if it has `--watch`. Changed output replaces the previous one on a
 * terminal and is appended elsewhere. A failed first run ends it, unless it read files, which can
 * be corrected. Later failures, such as an unavailable service, are shown and retried.
 */
export async function runWatched(
  run: (terminal: Terminal) => Promise<WatchedRun>,
  terminal: Terminal,
): Promise<ExitCode> {
  const clear = terminal.columns === undefined ? '' : CLEAR
  let shown: string | undefined
  for (;;) {
    const written: (readonly ['out' | 'err', string])[] = []
    const { exitCode, isWatched, files } = await run({
      ...terminal,
      out: (text) => written.push(['out', text]),
      err: (text) => written.push(['err', text]),
      // It would overwrite the output.
      showsProgress: false,
    })
    const hasFailed = exitCode === EXIT.error && files === undefined
    const isLast = shown === undefined && (hasFailed || !isWatched)
    const text = JSON.stringify(written)
    if (text !== shown) {
      if (!isLast) terminal.out(clear)
      for (const [stream, piece] of written) terminal[stream](piece)
    }
    if (isLast) return exitCode
    shown = text
    await nextRun(files)
  }
}

async function nextRun(files: WatchedFiles | undefined): Promise<void> {
  if (files === undefined) await setTimeout(SERVICE_POLL_MS)
  else
    do await setTimeout(Math.max(FILE_POLL_MS, files.pauseMs()))
    while (!(await files.haveChanged()))
}
