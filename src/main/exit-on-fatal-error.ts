import { toError } from '../errors/app-error.js'
import type { Logger } from '../lib/logger.js'

/** The part of `process` that is used here. */
export interface FatalErrorSource {
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
