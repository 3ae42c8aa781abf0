import { toAppError } from '../../errors/app-error.js'
import type { AppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Admission } from '../pipeline/admit-request.js'
import type { FindDirectRoute } from '../pipeline/find-direct-route.js'

/** Runs before all routes. */
export interface RequestHandlerOptions {
  readonly admit: Admission['admit']
  /** Finds routes that are answered on the exchange itself, before the web application; undefined where it answers everything. */
  readonly find: FindDirectRoute | undefined
  /** Answers every request that is not found so. */
  readonly application: (exchange: Exchange) => Promise<void>
  /** Called for every request that has been answered. */
  readonly finished: (exchange: Exchange) => void
}

/** Answers one request; whatever goes wrong is an answer too, so it never throws. */
export type HandleRequest = (exchange: Exchange) => void

/** Where every request arrives, whichever transport read it. */
export function makeRequestHandler(options: RequestHandlerOptions): HandleRequest {
  return (exchange) => void answerSafely(options, exchange)
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
  // Direct routes are done with the body; others can keep parts of it.
  if (route !== undefined) exchange.freeBody()
}

/** Ends the connection where the error cannot be written. */
function refuse(exchange: Exchange, error: AppError): void {
  try {
    exchange.fail(error)
  } catch (raw) {
    exchange.breakOff(toAppError(raw))
  }
}
