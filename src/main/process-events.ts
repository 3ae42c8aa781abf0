import { closeSync, openSync } from 'node:fs'

import type { Logger } from '../lib/logger.js'
import { toError } from '../errors/app-error.js'

const ENDING = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const
/** Service managers send it so that the service reads its configuration again. */
const RELOADING = 'SIGHUP'
/**
 * By default Node.js opens a debugger port on SIGUSR1, through which any local user could run code
 * in the service.
 */
const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const
/** Signals that a terminal or an operator sends to all processes of the service. */
export const ALL_SIGNALS = [...ENDING, RELOADING, ...IGNORED] as const

/**
 * Resolves with the first signal that ends the service. A second one ends the process immediately.
 * SIGHUP calls `reload`, unless the terminal was closed, which sends it, too.
 */
export function nextSignal(reload: (signal: string) => void): Promise<string> {
  const hadTerminal = hasTerminal()
  return new Promise((resolve) => {
    const taken = (signal: string): void => {
      for (const each of ENDING) process.off(each, taken)
      resolve(signal)
    }
    for (const signal of ENDING) process.on(signal, taken)
    process.on(RELOADING, () => {
      if (hadTerminal && !hasTerminal()) taken(RELOADING)
      else reload(RELOADING)
    })
  })
}

/** Whether the process has a terminal that controls it. Always false on Windows. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/** Logs signals without a meaning and otherwise ignores them. */
export function ignoreOtherSignals(logger: Logger): void {
  for (const signal of IGNORED) {
    process.on(signal, () => logger.warn({ signal }, 'ignored a signal without a meaning'))
  }
}

/** The part of `process` that is used here. */
interface FatalErrorSource {
  on(event: 'uncaughtException', listener: (raw: unknown, origin: string) => void): unknown
  exit(code: number): void
}

/** Time limit of `flush`, in milliseconds. */
const FLUSH_MS = 2000

/**
 * Ends the process with exit code 1 after an uncaught exception or an unhandled rejection, which
 * Node.js raises as an exception. Logs the error and flushes first. Later errors are ignored.
 */
export function exitOnFatalError(
  logger: Pick<Logger, 'fatal'>,
  flush: () => Promise<void>,
  source: FatalErrorSource = process,
): void {
  let isEnding = false
  source.on('uncaughtException', (raw, origin) => {
    if (isEnding) return
    isEnding = true
    const { message, stack } = toError(raw)
    logger.fatal({ error: message, origin, stack }, 'unexpected error: the process ends with exit code 1')
    const exit = (): void => source.exit(1)
    setTimeout(exit, FLUSH_MS)
    flush().then(exit, exit)
  })
}
