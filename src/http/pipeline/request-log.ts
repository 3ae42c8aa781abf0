import type { Logger } from '../../lib/logger.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import type { Exchange } from '../exchange/exchange.js'

/** The operations whose answers are kept in the decision log: a line for each would drown the rest. */
const DECIDING = new Set(['v0/data', 'v1/data', 'v1/staticPolicy', 'index'])
const SERVER_ERROR = 500
const REPORT_TOKEN = /(?<=^\/analysis\/report\/[^/]*\/)[^/]+/

/** Refusals of one kind that follow the first within this time are counted, and told in one line. */
const REFUSAL_REPORT_INTERVAL_MS = 10_000

/**
 * Writes a line for each answered request: errors of ours as errors, decisions only when debugging. Of requests that were refused because there were too many,
 * one line for each would take from the service what it lacks: the first is written, and every ten seconds how many followed.
 */
export class RequestLog {
  readonly #logger: Logger
  /** How many refusals followed the one that was written, by its handler and what it says. */
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

  /** Tells at once of the refusals that have not been told of. */
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

  /** Refusals of which none followed are over: the next is written again. */
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
    method: exchange.method,
    path: shownPath(exchange.target.path),
    status,
    durationMs: Math.round((performance.now() - exchange.startedAt) * 1000) / 1000,
    caller: exchange.callerName,
    ...(failure === undefined ? {} : { code: failure.code, error: failure.message, cause: causeOf(failure) }),
  }
}

/** The token of a report's link opens the report: it is in no log. */
function shownPath(path: string): string {
  return path.replace(REPORT_TOKEN, REDACTION_MARK)
}

/** What is behind an error is for the log alone. */
function causeOf({ cause, kind }: NonNullable<Exchange['failure']>): string | undefined {
  return cause instanceof Error ? (kind === 'internal' ? cause.stack : cause.message) : undefined
}
