import type { Logger } from '../lib/logger.js'
import { toError } from '../errors/app-error.js'

/** SIGHUP is what the end of a terminal sends, and what some send after they moved a log away: either way nothing may be cut. */
const ENDING = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const
/** SIGUSR1 would have Node open a port for a debugger, in which every user of the machine could run code of the service. */
const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const
/** Those that a terminal or an operator sends to all processes of the service. */
export const ALL_SIGNALS = [...ENDING, ...IGNORED] as const

/** The first signal that ends the service in order. The one after it ends the process at once, as if nobody listened. */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    const taken = (signal: string): void => {
      for (const each of ENDING) process.off(each, taken)
      resolve(signal)
    }
    for (const signal of ENDING) process.on(signal, taken)
  })
}

/** Signals that mean nothing here are told, and do nothing. */
export function ignoreOtherSignals(logger: Logger): void {
  for (const signal of IGNORED) {
    process.on(signal, () => logger.warn({ signal }, 'this signal means nothing to the service'))
  }
}

/** The part of `process` that is used here. */
interface FatalErrorSource {
  on(event: 'uncaughtException', listener: (raw: unknown, origin: string) => void): unknown
  exit(code: number): void
}

/** Time that `flush` has, in milliseconds. */
const FLUSH_MS = 2000

/**
 * Ends the process with exit code 1 after an uncaught exception or an unhandled rejection, which Node.js raises as one:
 * logs it, then flushes what can be flushed. Later errors of the same process change nothing.
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
