import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate, AuthenticatePage } from './authenticate.js'
import { makeGuard, makePageGuard } from './guard.js'
import type { Guard, PageGuard } from './guard.js'
import type { BoundApplicationRoute, BoundDirectRoute, BoundRoute } from './route.js'

/** A route of which nothing is asked past its guard. */
export type GuardedRoute = GuardedApplicationRoute | GuardedDirectRoute

export type GuardedApplicationRoute = BoundApplicationRoute & {
  /** Labels the request, and raises `unauthenticated` or `forbidden` for who may not ask. */
  readonly enter: (exchange: Exchange) => void | Promise<void>
}
export type GuardedDirectRoute = BoundDirectRoute & {
  /** Labels the request and answers on the exchange, or raises; who may not ask is told so. */
  readonly answer: (exchange: Exchange) => void | Promise<void>
}

const BELOW = '/*'

/** The routes with their guards before them. */
export function guardRoutes(
  routes: readonly BoundRoute[],
  requests: Authenticate,
  pages: AuthenticatePage = likeRequests(requests),
): readonly GuardedRoute[] {
  return routes.map((route) => {
    if (route.kind === 'direct') return guardDirectRoute(route, makeGuard(route, requests))
    const guard = route.isPage === true ? makePageGuard(route, pages) : makeGuard(route, requests)
    return guardApplicationRoute(route, guard)
  })
}

function likeRequests(requests: Authenticate): AuthenticatePage {
  return (exchange, roles) => Promise.resolve().then(() => requests(exchange, roles))
}

function guardApplicationRoute(
  route: BoundApplicationRoute,
  guard: Guard | PageGuard,
): GuardedApplicationRoute {
  const enter = (exchange: Exchange): void | Promise<void> => {
    exchange.handler = route.handler
    exchange.showsErrors = route.showsErrors ?? false
    return guard(exchange)
  }
  return { ...route, enter }
}

function guardDirectRoute(route: BoundDirectRoute, guard: Guard): GuardedDirectRoute {
  const { handler, errorHeaders, answerOn, path, showsErrors = false } = route
  const restAt = path.endsWith(BELOW) ? path.length - 1 : Infinity
  const answer = (exchange: Exchange): void | Promise<void> => {
    exchange.handler = handler
    exchange.errorHeaders = errorHeaders
    exchange.showsErrors = showsErrors
    guard(exchange)
    if (exchange.refusal !== undefined) throw exchange.refusal
    const rest = exchange.target.path.slice(restAt)
    // With a body it takes its turn once that is whole.
    const turn = route.isProbe === true || route.body !== undefined ? undefined : exchange.takeTurn(0)
    return turn === undefined ? answerOn(exchange, rest) : turn.then(() => answerOn(exchange, rest))
  }
  return { ...route, answer }
}
