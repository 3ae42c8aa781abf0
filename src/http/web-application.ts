import { RequestError, getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { accepts } from 'hono/accepts'

import { openApiDocument } from './openapi/openapi-document.js'
import type { OpenApiOptions } from './openapi/openapi-document.js'
import { authorizeAnyone, guardRoutes } from './pipeline/guarded-routes.js'
import { routesForProbes } from './direct-routes.js'
import type { RouteOptions } from './direct-routes.js'
import { answerUnknownPage } from './routes/pages/page-route.js'
import { routeLists } from './route-lists.js'
import type { RoutesDeps } from './route-lists.js'
import type { RequestHandlerOptions } from './transport/handle-request.js'
import { AppError, toAppError } from '../errors/app-error.js'
import type { AppEnv, Exchange } from './exchange/exchange.js'
import { StandardExchange } from './transport/node/standard-exchange.js'
import { JSON_TYPE } from './exchange/exchange.js'
import { MethodNotAllowed, errorAnswer, errorLine } from './exchange/error-body.js'
import type {
  AccessRules,
  Guard,
  GuardedApplicationRoute,
  GuardedDirectRoute,
  GuardedRoute,
} from './pipeline/guarded-routes.js'
import type { BoundRoute } from './pipeline/route.js'

const JSON_MEDIA = 'application/json'

type Application = RequestHandlerOptions['application']
export interface WebApplicationParts {
  readonly deps: RoutesDeps
  readonly options: RouteOptions
  readonly access: AccessRules
}

/** The applications for all routes and for probes. */
export interface WebApplications {
  readonly everything: Application
  readonly probes: Application
}

/** Creates the web application from the routes of all features. */
export function makeWebApplications(parts: WebApplicationParts): WebApplications {
  const { deps, options, access } = parts
  const { authorize, ...authentication } = access
  const bound = routeLists(options).flatMap(({ bind }) => bind(deps))
  const unknown = {
    page: (exchange: Exchange) => answerUnknownPage(exchange, deps.pages),
    authorize: authorize && authorizeAnyone(access, authorize),
  }
  return {
    everything: makeApplication(mountRoutes(guardRoutes(bound, access), unknown)),
    probes: makeApplication(mountRoutes(routesForProbes(guardRoutes(bound, authentication)))),
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

/** Requests without a route. */
interface UnknownRequests {
  /** Responds to a browser at an unknown address. */
  readonly page?: (exchange: Exchange) => Promise<Response>
  /** Raises `unauthenticated` or `forbidden` for a request that a policy refuses. */
  readonly authorize?: Guard | undefined
}

/**
 * Creates the web application for all routes. It labels, guards and parses each request, returns
 * errors in one format, and responds to other methods of a known path with 405. Paths are matched
 * as sent, without unescaping.
 */
export function mountRoutes(
  routes: readonly GuardedRoute[],
  { page: unknownPage, authorize }: UnknownRequests = {},
): Hono<AppEnv> {
  const app = new Hono<AppEnv>({
    getPath: (request, options) => options?.env?.exchange.target.path ?? request.url,
  })
  app.onError((raw, c) => {
    const error = toAppError(raw)
    c.env.exchange.failure = error
    return errorResponse(error, c.env.exchange.showsErrors)
  })
  app.notFound(async (c) => {
    const { exchange } = c.env
    await authorize?.(exchange)
    if (
      unknownPage !== undefined &&
      c.req.method === 'GET' &&
      prefers(c, JSON_MEDIA, 'text/html') === 'text/html'
    )
      return await exchange.makePage(() => unknownPage(exchange))
    throw new AppError('not_found', `there is nothing at ${c.req.path}`, { code: 'not_found' })
  })
  const methods = methodsByPath(routes)
  for (const route of routes) {
    const allowed = methods.get(route.path) ?? []
    app.on(route.method, route.path, (c) =>
      route.kind === 'direct' ? answerDirectly(route, { allowed, authorize }, c) : answer(route, c),
    )
  }
  refuseOtherMethods(app, methods, authorize)
  return app
}

function prefers(c: Context<AppEnv>, first: string, ...others: readonly string[]): string {
  return accepts(c, { header: 'Accept', supports: [first, ...others], default: first })
}

/** Returns an error as a response. */
function errorResponse(error: AppError, isShown = false): Response {
  const { status, body, headers } = isShown ? errorLine(error) : errorAnswer(error)
  return new Response(body, { status, headers: { 'Content-Type': JSON_TYPE, ...headers } })
}

async function answer(route: GuardedApplicationRoute, c: Context<AppEnv>): Promise<Response> {
  const { exchange } = c.env
  const sent = {
    exchange,
    params: c.req.param(),
    query: c.req.query(),
    prefers: (first: string, ...others: readonly string[]) => prefers(c, first, ...others),
  }
  try {
    await route.enter(exchange)
  } catch (raw) {
    if (route.refused === undefined) throw raw
    const refusal = toAppError(raw)
    exchange.failure = refusal
    return await route.refused(refusal, sent)
  }
  if (route.method !== 'GET' || route.isPolled === true) return await route.respond(sent)
  return exchange.makePage(() => route.respond(sent))
}

interface OtherMethods extends Pick<UnknownRequests, 'authorize'> {
  readonly allowed: readonly string[]
}

async function answerDirectly(
  route: GuardedDirectRoute,
  { allowed, authorize }: OtherMethods,
  c: Context<AppEnv>,
): Promise<Response> {
  const { exchange } = c.env
  // Hono routes HEAD to GET. OPA accepts HEAD for probes only.
  if (exchange.method !== route.method && route.isProbe !== true) {
    await authorize?.(exchange)
    throw new MethodNotAllowed(exchange.method, c.req.path, allowed)
  }
  try {
    await route.answer(exchange)
  } catch (raw) {
    exchange.fail(toAppError(raw))
  }
  return RESPONSE_ALREADY_SENT
}

/**
 * Returns the sorted methods of each path. HEAD is included for GET routes of the web application
 * and for probes.
 */
function methodsByPath(
  routes: readonly Pick<BoundRoute, 'method' | 'path' | 'kind' | 'isProbe'>[],
): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method, kind, isProbe } of routes) {
    const known = methods.get(path) ?? new Set()
    methods.set(path, known.add(method))
    if (method === 'GET' && (kind === 'application' || isProbe === true)) known.add('HEAD')
  }
  return new Map([...methods].map(([path, known]) => [path, [...known].sort()]))
}

/** Responds to all other methods of known paths with 405. Must be called last. */
function refuseOtherMethods(
  app: Hono<AppEnv>,
  methods: ReadonlyMap<string, readonly string[]>,
  authorize: UnknownRequests['authorize'],
): void {
  for (const [path, known] of methods) {
    app.all(path, async (c) => {
      await authorize?.(c.env.exchange)
      throw new MethodNotAllowed(c.req.method, c.req.path, known)
    })
  }
}
