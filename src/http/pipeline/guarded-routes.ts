import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate } from './authenticate.js'
import { makeGuard } from './guard.js'
import type { Guard } from './guard.js'
import type { BoundApplicationRoute, BoundDirectRoute, BoundRoute } from './route.js'

/** A route of which nothing is asked past its guard. */
export type GuardedRoute = GuardedApplicationRoute | GuardedDirectRoute

export type GuardedApplicationRoute = BoundApplicationRoute & {
  /** Labels the request, and raises `unauthenticated` or `forbidden` for who may not ask. */
  readonly enter: (exchange: Exchange) => void
}
export type GuardedDirectRoute = BoundDirectRoute & {
  /** Labels the request and answers on the exchange, or raises; who may not ask is told so. */
  readonly answer: (exchange: Exchange) => Promise<void>
}

const BELOW = '/*'

/** The routes with their guards before them. */
export function guardRoutes(
  routes: readonly BoundRoute[],
  requests: Authenticate,
  pages: Authenticate = requests,
): readonly GuardedRoute[] {
  return routes.map((route) => {
    const guard = makeGuard(route, { requests, pages })
    return route.kind === 'application' ? guardApplicationRoute(route, guard) : guardDirectRoute(route, guard)
  })
}

function guardApplicationRoute(route: BoundApplicationRoute, guard: Guard): GuardedApplicationRoute {
  const enter = (exchange: Exchange): void => {
    exchange.handler = route.handler
    exchange.showsErrors = route.showsErrors ?? false
    guard(exchange)
  }
  return { ...route, enter }
}

function guardDirectRoute(route: BoundDirectRoute, guard: Guard): GuardedDirectRoute {
  const { handler, errorHeaders, answerOn, path, showsErrors = false } = route
  const restAt = path.endsWith(BELOW) ? path.length - 1 : Infinity
  const answer = (exchange: Exchange): Promise<void> => {
    exchange.handler = handler
    exchange.errorHeaders = errorHeaders
    exchange.showsErrors = showsErrors
    guard(exchange)
    return answerOn(exchange, exchange.target.path.slice(restAt))
  }
  return { ...route, answer }
}
