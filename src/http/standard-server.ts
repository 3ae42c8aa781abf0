import { createServer } from 'node:http'
import type { Server } from 'node:http'

import { AppError } from '../errors.js'
import type { Front } from './front.js'
import { refuseConnection } from './refuse-connection.js'
import { StandardExchange } from './standard-exchange.js'

/** How long a server waits for its callers, in milliseconds. */
export interface Patience {
  /** For the first byte of a connection to the end of its headers. */
  readonly headersMs: number
  /** For all of a request. */
  readonly requestMs: number
  /** For the next request of a connection. */
  readonly keepAliveMs: number
}

/** Node's own HTTP server with the front behind it: it reads every form of request. */
export function createStandardServer(
  front: Front,
  requestIdFor: (claimed: string | undefined) => string,
  patience: Patience,
): Server {
  const server = createServer(
    {
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      keepAliveTimeout: patience.keepAliveMs,
      // Its own refusal has no body; ours is in the one shape of errors.
      requireHostHeader: false,
    },
    (request, response) => {
      const claimed = request.headers['x-request-id']
      const requestId = requestIdFor(Array.isArray(claimed) ? claimed[0] : claimed)
      const exchange = new StandardExchange(request, response, requestId)
      if (request.headers.host === undefined && request.httpVersion === '1.1') exchange.fail(missingHost())
      else front(exchange)
    },
  )
  return server.on('clientError', refuseConnection)
}

/** RFC 9112, 3.2. */
function missingHost(): AppError {
  return new AppError('invalid', 'the request has no Host header', { code: 'invalid_request' })
}
