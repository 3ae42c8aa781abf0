import { RequestError, getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'

import { AppError, toAppError } from '../errors/app-error.js'
import type { AppEnv, Exchange } from './exchange/exchange.js'
import type { Authenticate } from './pipeline/authenticate.js'
import { errorAnswer } from './exchange/error-body.js'
import { JSON_TYPE } from './exchange/exchange.js'
import type { GateRoutesDeps } from './routes/gates/gate-routes-deps.js'
import { mountGates } from './routes/gates/mount-gates.js'
import { jsonAnswer } from './exchange/json-answer.js'
import { refuseOtherMethods } from './pipeline/refuse-other-methods.js'
import { analysisRoutes } from './routes/analysis/analysis.js'
import type { AnalysisRoutesDeps } from './routes/analysis/analysis-deps.js'
import { autopilotRoutes } from './routes/analysis/autopilot.js'
import { backgroundWorkRoutes } from './routes/background-work.js'
import type { BackgroundWorkRoutesDeps } from './routes/background-work.js'
import { decisionRoutes } from './routes/decisions.js'
import type { DecisionRoutesDeps } from './routes/decisions.js'
import { healthRoutes, metricsRoutes } from './routes/health.js'
import type { HealthRoutesDeps } from './routes/health.js'
import { outboxRoutes } from './routes/outbox.js'
import type { OutboxRoutesDeps } from './routes/outbox.js'
import type { ServiceMetrics } from './pipeline/service-metrics.js'
import { mountTrail } from './routes/mount-trail.js'
import type { TrailRoutesDeps } from './routes/mount-trail.js'
import { StandardExchange } from './transport/node/standard-exchange.js'

/** What the request handler answers itself on paths of the application: the default decision. */
const ANSWERED_BEFORE = { '/': ['POST'] }

/** What the web application is made of. */
export interface AppDeps {
  readonly authenticate: Authenticate
  readonly health: HealthRoutesDeps
  readonly decisions: DecisionRoutesDeps
  readonly metrics: ServiceMetrics
  readonly outbox: OutboxRoutesDeps
  readonly backgroundWork: BackgroundWorkRoutesDeps
  readonly gates: GateRoutesDeps
  readonly trail: TrailRoutesDeps
  readonly analysis: AnalysisRoutesDeps
  readonly version: string
}

/** Everything but the policy operations: one Hono application with a file of routes per component. */
export function makeApp(deps: AppDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.onError((raw, c) => {
    const error = toAppError(raw)
    c.env.exchange.failure = error
    return errorResponse(error)
  })
  app.notFound((c) => {
    throw new AppError('not_found', `there is nothing at ${c.req.path}`, { code: 'not_found' })
  })
  app.get('/', () => jsonAnswer({ service: 'tidegate', version: deps.version }))
  app.route('/health', healthRoutes(deps.health))
  app.route('/metrics', metricsRoutes(deps.authenticate, deps.metrics))
  app.route('/decisions', decisionRoutes(deps.authenticate, deps.decisions))
  app.route('/outbox', outboxRoutes(deps.authenticate, deps.outbox))
  app.route('/backgroundWork', backgroundWorkRoutes(deps.authenticate, deps.backgroundWork))
  mountGates(app, deps.authenticate, deps.gates)
  mountTrail(app, deps.authenticate, deps.trail)
  app.route('/analysis', analysisRoutes(deps.authenticate, deps.analysis))
  app.route('/autopilot', autopilotRoutes(deps.authenticate, deps.analysis))
  refuseOtherMethods(app, ANSWERED_BEFORE)
  return app
}

/** The application as the request handler calls it: it answers on node's own request and response. */
export function makeApplication(app: Hono<AppEnv>): (exchange: Exchange) => Promise<void> {
  const listener = getRequestListener((request, env) => app.fetch(request, { exchange: exchangeOf(env) }), {
    // Of HTTP/1.0, which may come without a Host: a URL needs one.
    hostname: 'localhost',
    errorHandler: (raw) => errorResponse(raw instanceof RequestError ? unreadable(raw) : toAppError(raw)),
  })
  return async (exchange) => {
    if (!(exchange instanceof StandardExchange)) throw pastTheRequestHandler()
    const { request, response, target } = exchange
    exchanges.set(response, exchange)
    response.setHeader('X-Request-Id', exchange.requestId)
    // The application routes on the tidied path, so that repeated and trailing slashes work there too.
    request.url = target.query === undefined ? target.path : `${target.path}?${target.query}`
    await listener(request, response)
  }
}

const exchanges = new WeakMap<object, Exchange>()

function exchangeOf(env: { readonly outgoing: object }): Exchange {
  const exchange = exchanges.get(env.outgoing)
  if (exchange === undefined) throw pastTheRequestHandler()
  return exchange
}

function errorResponse(error: AppError): Response {
  const { status, body, headers } = errorAnswer(error)
  return new Response(body, { status, headers: { 'Content-Type': JSON_TYPE, ...headers } })
}

/** A Host header or a path that no URL can be made of. */
function unreadable(cause: RequestError): AppError {
  const message = `the request cannot be read: ${cause.message}`
  return new AppError('invalid', message, { code: 'invalid_request', cause })
}

function pastTheRequestHandler(): AppError {
  return new AppError('internal', 'a request reached the application past the request handler')
}
