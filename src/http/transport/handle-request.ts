import { AppError, toAppError } from '../../errors/app-error.js'
import type { Admission } from '../pipeline/admit-request.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import type { Exchange } from '../exchange/exchange.js'
import { findPolicyRoute, isRootPost } from '../policy/policy-routes.js'
import type { PolicyContext } from '../policy/policy-context.js'

const NEGOTIATED = new Set(['v1/data', 'v0/data'])

/** What stands before all operations. */
export interface RequestHandlerOptions {
  readonly admit: Admission['admit']
  readonly authenticate: Authenticate
  readonly policy: PolicyContext
  /** Whether `POST /` is for the application, which takes events there, and does not ask for the default decision. */
  readonly eventsAtRoot: boolean
  /** Answers every request that is for no policy operation. */
  readonly application: (exchange: Exchange) => Promise<void>
  /** Told of every request that has been answered. */
  readonly finished: (exchange: Exchange) => void
}

/** Answers one request; whatever goes wrong is an answer too, so it never throws. */
export type HandleRequest = (exchange: Exchange) => void

/**
 * Where every request arrives. The policy operations, which must be fast, are answered on the exchange itself; everything
 * else goes on to the web application. Both share authentication, errors and figures.
 */
export function makeRequestHandler(options: RequestHandlerOptions): HandleRequest {
  return (exchange) => void answerSafely(options, exchange)
}

async function answerSafely(options: RequestHandlerOptions, exchange: Exchange): Promise<void> {
  try {
    await answer(options, exchange)
  } catch (raw) {
    exchange.fail(toAppError(raw), varyHeader(exchange))
  }
  options.finished(exchange)
}

async function answer(options: RequestHandlerOptions, exchange: Exchange): Promise<void> {
  if (!exchange.isAdmitted) options.admit(exchange)
  const isForEvents = options.eventsAtRoot && isRootPost(exchange)
  const route = isForEvents ? undefined : findPolicyRoute(exchange)
  if (route === undefined) {
    await options.application(exchange)
    return
  }
  exchange.handler = route.handler
  authenticateOnPolicyPath(options.authenticate, exchange)
  await route.answer(options.policy, exchange)
}

/** On a policy path 401 means denied, so a credential failure must be something else. */
function authenticateOnPolicyPath(authenticate: Authenticate, exchange: Exchange): void {
  try {
    authenticate(exchange, ['orchestrator'])
  } catch (raw) {
    const error = toAppError(raw)
    throw error.kind === 'unauthenticated'
      ? new AppError('forbidden', error.message, { code: error.code, cause: error })
      : error
  }
}

/** What an answer of the Data API varies with, its errors too. */
function varyHeader({ handler }: Exchange): readonly string[] {
  return NEGOTIATED.has(handler) ? ['Vary', 'Accept-Encoding'] : []
}
