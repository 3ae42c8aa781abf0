import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Admission } from '../pipeline/admit-request.js'
import type { FindDirectRoute } from '../pipeline/find-direct-route.js'
export interface RequestHandlerOptions {
  readonly admit: Admission['admit']
  /** Finds direct routes; undefined if the web application serves everything. */
  readonly find: FindDirectRoute | undefined
  /** Serves all other requests. */
  readonly application: (exchange: Exchange) => Promise<void>
  /** Calls its second argument in a span of the request; undefined if requests are not traced. */
  readonly trace?: ((exchange: Exchange, answer: () => Promise<void>) => Promise<void>) | undefined
  /** Called after each response. */
  readonly finished: (exchange: Exchange) => void
}

/** Responds to a request. Errors become responses, so it never throws. */
export type HandleRequest = (exchange: Exchange) => void

/** Creates the handler for all requests, whichever transport reads them. */
export function makeRequestHandler(options: RequestHandlerOptions): HandleRequest {
  const { trace } = options
  if (trace === undefined) return (exchange) => void answerSafely(options, exchange)
  return (exchange) => void trace(exchange, () => answerSafely(options, exchange))
}

async function answerSafely(options: RequestHandlerOptions, exchange: Exchange): Promise<void> {
  let route
  try {
    options.admit(exchange)
    route = options.find?.(exchange.method, exchange.target.path)
    await (route === undefined ? options.application(exchange) : route.answer(exchange))
  } catch (raw) {
    refuse(exchange, toAppError(raw))
  }
  options.finished(exchange)
  // Only direct routes are known not to keep parts of the body.
  if (route !== undefined) exchange.freeBody()
}

/** Closes the connection if the error cannot be written. */
function refuse(exchange: Exchange, error: AppError): void {
  try {
    exchange.fail(error)
  } catch (raw) {
    exchange.breakOff(toAppError(raw))
  }
}
