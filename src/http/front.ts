import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

import { AppError, toAppError } from '../errors.js'
import type { Authenticate } from './authenticate.js'
import { Exchange } from './exchange.js'
import { findPolicyRoute } from './policy/policy-routes.js'
import type { PolicyContext } from './policy/policy-context.js'
import { makeRequestIds } from './request-id.js'
import { parseRequestTarget } from './request-target.js'

const NEGOTIATED = new Set(['v1/data', 'v0/data'])

/** What stands before all operations. */
export interface FrontOptions {
  readonly authenticate: Authenticate
  readonly policy: PolicyContext
  /** Answers every request that is for no policy operation. */
  readonly application: (exchange: Exchange) => Promise<void>
  /** Told of every request that has been answered. */
  readonly finished: (exchange: Exchange) => void
}

/**
 * The listener of the server. The policy operations, which must be fast, are answered on node's own request and
 * response; everything else goes on to the web application. Both share ids, authentication, errors and figures.
 */
export function makeFront(options: FrontOptions): RequestListener {
  const nextRequestId = makeRequestIds()
  return (request: IncomingMessage, response: ServerResponse) => {
    const claimedId = request.headers['x-request-id']
    const requestId = nextRequestId(Array.isArray(claimedId) ? claimedId[0] : claimedId)
    const exchange = new Exchange(request, response, parseRequestTarget(request.url ?? '/'), requestId)
    void answerSafely(options, exchange)
  }
}

/** Whatever goes wrong is an answer too; nothing is thrown at the server. */
async function answerSafely(options: FrontOptions, exchange: Exchange): Promise<void> {
  try {
    await answer(options, exchange)
  } catch (raw) {
    exchange.fail(toAppError(raw), varyHeader(exchange))
  }
  options.finished(exchange)
}

async function answer(options: FrontOptions, exchange: Exchange): Promise<void> {
  const route = findPolicyRoute(exchange)
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
