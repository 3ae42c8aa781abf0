import type { Logger } from '../../lib/logger.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import type { Exchange } from '../exchange/exchange.js'

/** The operations whose answers are kept in the decision log: a line for each would drown the rest. */
const DECIDING = new Set(['v0/data', 'v1/data', 'v1/staticPolicy', 'index'])
const SERVER_ERROR = 500
const REPORT_TOKEN = /(?<=^\/analysis\/report\/[^/]*\/)[^/]+/

/** Writes one line for an answered request: errors of ours as errors, decisions only when debugging. */
export function logRequest(logger: Logger, exchange: Exchange): void {
  const { failure, status } = exchange
  const level =
    status >= SERVER_ERROR
      ? 'error'
      : DECIDING.has(exchange.handler) && failure === undefined
        ? 'debug'
        : 'info'
  if (!logger.isLevelEnabled(level)) return
  const fields = {
    requestId: exchange.requestId,
    method: exchange.method,
    path: shownPath(exchange.target.path),
    status,
    durationMs: Math.round((performance.now() - exchange.startedAt) * 1000) / 1000,
    caller: exchange.callerName,
    ...(failure === undefined ? {} : { code: failure.code, error: failure.message, cause: causeOf(failure) }),
  }
  logger[level](fields, 'request')
}

/** The token of a report's link opens the report: it is in no log. */
function shownPath(path: string): string {
  return path.replace(REPORT_TOKEN, REDACTION_MARK)
}

/** What is behind an error is for the log alone. */
function causeOf({ cause, kind }: NonNullable<Exchange['failure']>): string | undefined {
  return cause instanceof Error ? (kind === 'internal' ? cause.stack : cause.message) : undefined
}
