import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'

import { AppError, toAppError } from '../../errors/app-error.js'
import { JSON_TYPE } from '../exchange/exchange.js'
import type { AppEnv, Exchange } from '../exchange/exchange.js'
import { MethodNotAllowed, errorAnswer, errorLine } from '../exchange/error-body.js'
import type { GuardedApplicationRoute, GuardedDirectRoute, GuardedRoute } from './guarded-routes.js'
import type { BoundRoute } from './route.js'

/** Responds to a browser at an unknown address. */
export type UnknownPage = (exchange: Exchange) => Promise<Response>

/**
 * Creates the web application for all routes. It labels, guards and parses each request, returns
 * errors in one format, and responds to other methods of a known path with 405. Paths are matched
 * as sent, without unescaping.
 */
export function mountRoutes(routes: readonly GuardedRoute[], unknownPage?: UnknownPage): Hono<AppEnv> {
  const app = new Hono<AppEnv>({
    getPath: (request, options) => options?.env?.exchange.target.path ?? request.url,
  })
  app.onError((raw, c) => {
    const error = toAppError(raw)
    c.env.exchange.failure = error
    return errorResponse(error, c.env.exchange.showsErrors)
  })
  app.notFound((c) => {
    const { exchange } = c.env
    if (
      unknownPage !== undefined &&
      c.req.method === 'GET' &&
      prefers(c, JSON_MEDIA, 'text/html') === 'text/html'
    )
      return exchange.makePage(() => unknownPage(exchange))
    throw new AppError('not_found', `there is nothing at ${c.req.path}`, { code: 'not_found' })
  })
  const methods = methodsByPath(routes)
  for (const route of routes) {
    const allowed = methods.get(route.path) ?? []
    app.on(route.method, route.path, (c) =>
      route.kind === 'direct' ? answerDirectly(route, allowed, c) : answer(route, c),
    )
  }
  refuseOtherMethods(app, methods)
  return app
}

const JSON_MEDIA = 'application/json'

function prefers(c: Context<AppEnv>, first: string, ...others: readonly string[]): string {
  return accepts(c, { header: 'Accept', supports: [first, ...others], default: first })
}

/** Returns an error as a response. */
export function errorResponse(error: AppError, isShown = false): Response {
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

async function answerDirectly(
  route: GuardedDirectRoute,
  allowed: readonly string[],
  c: Context<AppEnv>,
): Promise<Response> {
  const { exchange } = c.env
  // Hono routes HEAD to GET. OPA accepts HEAD for probes only.
  if (exchange.method !== route.method && route.isProbe !== true)
    throw new MethodNotAllowed(exchange.method, c.req.path, allowed)
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
export function methodsByPath(
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
export function refuseOtherMethods(app: Hono<AppEnv>, methods: ReadonlyMap<string, readonly string[]>): void {
  for (const [path, known] of methods) {
    app.all(path, (c) => {
      throw new MethodNotAllowed(c.req.method, c.req.path, known)
    })
  }
}
