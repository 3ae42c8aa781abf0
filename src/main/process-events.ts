import type { Logger } from '../lib/logger.js'
import { toError } from '../errors/app-error.js'

/**
 * A closing terminal sends SIGHUP, and so do some tools after rotating a log. Either way the
 * service must stop in order.
 */
const ENDING = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const
/**
 * By default Node.js opens a debugger port on SIGUSR1, through which any local user could run code
 * in the service.
 */
const IGNORED = ['SIGUSR1', 'SIGUSR2'] as const
/** Signals that a terminal or an operator sends to all processes of the service. */
export const ALL_SIGNALS = [...ENDING, ...IGNORED] as const

/**
 * Resolves with the first signal that ends the service. A second one ends the process immediately.
 */
export function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    const taken = (signal: string): void => {
      for (const each of ENDING) process.off(each, taken)
      resolve(signal)
    }
    for (const signal of ENDING) process.on(signal, taken)
  })
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
