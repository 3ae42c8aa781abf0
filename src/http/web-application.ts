import { RequestError, getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Hono } from 'hono'

import { openApiDocument } from './openapi/openapi-document.js'
import type { OpenApiOptions } from './openapi/openapi-document.js'
import type { Authenticate } from './pipeline/authenticate.js'
import { guardRoutes } from './pipeline/guarded-routes.js'
import { mountRoutes, errorResponse } from './pipeline/mount-routes.js'
import { routesForProbes } from './direct-routes.js'
import type { RouteOptions } from './direct-routes.js'
import { answerUnknownPage } from './routes/pages/page-route.js'
import { routeLists } from './route-lists.js'
import type { RoutesDeps } from './route-lists.js'
import type { RequestHandlerOptions } from './transport/handle-request.js'
import { AppError, toAppError } from '../errors/app-error.js'
import type { AppEnv, Exchange } from './exchange/exchange.js'
import { StandardExchange } from './transport/node/standard-exchange.js'

type Application = RequestHandlerOptions['application']
export interface WebApplicationParts {
  readonly deps: RoutesDeps
  readonly options: RouteOptions
  readonly authenticate: Authenticate
  readonly authenticatePage: Authenticate
}

/** The applications for all routes and for probes. */
export interface WebApplications {
  readonly everything: Application
  readonly probes: Application
}

/** Creates the web application from the routes of all features. */
export function makeWebApplications(parts: WebApplicationParts): WebApplications {
  const { deps, options, authenticate, authenticatePage } = parts
  const bound = routeLists(options).flatMap(({ bind }) => bind(deps))
  const routes = guardRoutes(bound, authenticate, authenticatePage)
  return {
    everything: makeApplication(mountRoutes(routes, (exchange) => answerUnknownPage(exchange, deps.pages))),
    probes: makeApplication(mountRoutes(routesForProbes(routes))),
  }
}

/** Returns the OpenAPI document as JSON. */
export function describeApi(options: RouteOptions, about: OpenApiOptions): string {
  return JSON.stringify(openApiDocument(routeLists(options), about))
}

/** Creates the function that serves an exchange with Hono, on node's own request and response. */
export function makeApplication(app: Hono<AppEnv>): (exchange: Exchange) => Promise<void> {
  const answer = async (request: Request, exchange: StandardExchange): Promise<Response> => {
    const response = await app.fetch(request, { exchange })
    // The handler responded itself, or the request was refused while it ran.
    return exchange.claimResponse() ? response : RESPONSE_ALREADY_SENT
  }
  const listener = getRequestListener((request, env) => answer(request, exchangeOf(env)), {
    // HTTP/1.0 requests may have no Host, but a URL needs one.
    hostname: 'localhost',
    errorHandler: (raw) => errorResponse(raw instanceof RequestError ? unreadable(raw) : toAppError(raw)),
  })
  return async (exchange) => {
    if (!(exchange instanceof StandardExchange)) throw pastTheRequestHandler()
    const { request, response, target } = exchange
    ;(response as Answering)[EXCHANGE] = exchange
    response.setHeader('X-Request-Id', exchange.requestId)
    request.url = target.query === undefined ? target.path : `${target.path}?${target.query}`
    await listener(request, response)
    exchange.written()
  }
}

/**
 * Property of a response with its exchange. A WeakMap would keep every request until the next full
 * collection, which takes 50 ms: minor collections treat the map's values as live, and this value
 * references its key.
 */
const EXCHANGE = Symbol('exchange')

interface Answering {
  [EXCHANGE]?: StandardExchange
}

function exchangeOf({ outgoing }: { readonly outgoing: object }): StandardExchange {
  const exchange = (outgoing as Answering)[EXCHANGE]
  if (exchange === undefined) throw pastTheRequestHandler()
  return exchange
}

/** The error for a Host header or path that does not form a URL. */
function unreadable(cause: RequestError): AppError {
  const message = `the request cannot be parsed: ${cause.message}`
  return new AppError('invalid', message, { code: 'invalid_request', cause })
}

function pastTheRequestHandler(): AppError {
  return new AppError('internal', 'a request bypassed the request handler')
}
