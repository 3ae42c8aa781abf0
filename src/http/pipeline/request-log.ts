import type { Logger } from '../../lib/logger.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import type { Exchange } from '../exchange/exchange.js'

/** Decision routes are logged at debug level only, since the decision log has them. */
const DECIDING = new Set(['v0/data', 'v1/data', 'v1/staticPolicy', 'index'])
const SERVER_ERROR = 500
const REPORT_TOKEN = /(?<=^\/analysis\/report\/[^/]*\/)[^/]+/

/** Interval in which repeated refusals are counted and logged together. */
const REFUSAL_REPORT_INTERVAL_MS = 10_000

/**
 * Logs one line per response: server errors as errors, decisions at debug level. Refusals due to
 * overload would cost more capacity, so only the first is logged, and every ten seconds the number
 * of further ones.
 */
export class RequestLog {
  readonly #logger: Logger
  /** Refusals after the logged one, by handler and message. */
  readonly #refused = new Map<string, { fields: object; count: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  note(exchange: Exchange): void {
    const level = levelOf(exchange)
    if (!this.#logger.isLevelEnabled(level) || this.#isFurtherRefusal(exchange)) return
    this.#logger[level](fieldsOf(exchange), 'request')
  }

  /** Logs the refusals that were not reported yet. */
  close(): void {
    this.#reportRefusals()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #isFurtherRefusal({ failure, handler, status }: Exchange): boolean {
    if (failure?.kind !== 'unavailable' || failure.retryAfterSeconds === undefined) return false
    const { code, message: error } = failure
    const key = `${handler} ${error}`
    const refused = this.#refused.get(key)
    if (refused !== undefined) {
      refused.count += 1
      return true
    }
    this.#refused.set(key, { fields: { status, handler, code, error }, count: 0 })
    this.#timer ??= setInterval(() => this.#reportRefusals(), REFUSAL_REPORT_INTERVAL_MS).unref()
    return false
  }

  /** A refusal that was not repeated within the interval is logged again next time. */
  #reportRefusals(): void {
    for (const [key, refused] of this.#refused) {
      if (refused.count === 0) this.#refused.delete(key)
      else this.#logger.error({ ...refused.fields, refused: refused.count }, 'further requests refused')
      refused.count = 0
    }
  }
}

function levelOf({ failure, handler, status }: Exchange): 'error' | 'debug' | 'info' {
  if (status >= SERVER_ERROR) return 'error'
  return DECIDING.has(handler) && failure === undefined ? 'debug' : 'info'
}

function fieldsOf(exchange: Exchange): object {
  const { failure, status } = exchange
  return {
    requestId: exchange.requestId,
    traceId: exchange.traceId,
    method: exchange.method,
    path: shownPath(exchange.target.path),
    status,
    durationMs: Math.round((performance.now() - exchange.startedAt) * 1000) / 1000,
    caller: exchange.callerName,
    ...(failure === undefined ? {} : { code: failure.code, error: failure.message, cause: causeOf(failure) }),
  }
}

/** Hides report tokens, which grant access. */
function shownPath(path: string): string {
  return path.replace(REPORT_TOKEN, REDACTION_MARK)
}

/** Causes of errors are logged and never sent to clients. */
function causeOf({ cause, kind }: NonNullable<Exchange['failure']>): string | undefined {
  return cause instanceof Error ? (kind === 'internal' ? cause.stack : cause.message) : undefined
}
