import type { ServerTls } from '../../http/transport/tls/secure-listener.js'
import type { Logger } from '../../lib/logger.js'

const PAUSE_MS = 10_000

/** Logs callers with whom there was no agreement on keys; of many, one every few seconds with how many there were. */
export function logHandshakes(logger: Logger): ServerTls['failed'] {
  let untold = 0
  let lastMs = -Infinity
  return (error, remoteAddress) => {
    const now = performance.now()
    untold += 1
    if (now - lastMs < PAUSE_MS) return
    logger.warn(
      { error: 'code' in error ? String(error.code) : error.message, remoteAddress, count: untold },
      'a caller and the service could not agree on TLS',
    )
    lastMs = now
    untold = 0
  }
}
