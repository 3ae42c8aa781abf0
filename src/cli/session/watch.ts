import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'

import type { WatchedFiles } from './watched-files.js'
import { EXIT } from './session.js'
import type { ExitCode } from './session.js'
import type { Terminal } from './terminal.js'

/** What a service shows is asked for again after so long, and files are looked at, in milliseconds. */
const SERVICE_POLL_MS = 2000
const FILE_POLL_MS = 300
/** Moves to the upper left corner and clears what is below (ECMA-48, CUP and ED). */
const CLEAR = '\u001B[H\u001B[2J'

/** One run of a command line. */
export interface WatchedRun {
  readonly exitCode: ExitCode
  /** Whether what ran is a command that shows something, and was told to show it again. */
  readonly isWatched: boolean
  /** What it has read, where it need be run again only when that changes. */
  readonly files?: WatchedFiles | undefined
}

/** Adds the flag that has a command show again what has changed. */
export function addWatchOption(command: Command): Command {
  return command.option('-w, --watch', 'show it again whenever it has changed, until Ctrl-C')
}

/**
 * Runs a command line; where it was told to watch, again and again. What it shows is written where that has changed: over what was there on a
 * person's terminal, behind it elsewhere. A first run that fails is the last, unless it has read files, which can be mended; where a later one fails, since a
 * service is away, that is shown and it goes on.
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
      // It would be written over what is shown.
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
