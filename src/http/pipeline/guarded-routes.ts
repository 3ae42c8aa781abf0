import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate } from './authenticate.js'
import { makeGuard } from './guard.js'
import type { BoundApplicationRoute, BoundDirectRoute, BoundRoute } from './route.js'

/** A route of which nothing is asked past its guard. */
export type GuardedRoute = GuardedApplicationRoute | GuardedDirectRoute

interface Entrance {
  /** Labels the request, and raises `unauthenticated` or `forbidden` for who may not ask. */
  readonly enter: (exchange: Exchange) => void
}

export type GuardedApplicationRoute = BoundApplicationRoute & Entrance
export type GuardedDirectRoute = BoundDirectRoute &
  Entrance & {
    /** Answers on the exchange, or raises. */
    readonly answer: (exchange: Exchange) => Promise<void>
  }

const BELOW = '/*'

/** The routes with their guards before them. */
export function guardRoutes(
  routes: readonly BoundRoute[],
  authenticate: Authenticate,
): readonly GuardedRoute[] {
  return routes.map((route) => {
    const guard = makeGuard(route, authenticate)
    const { handler } = route
    if (route.kind === 'application') {
      const enter = (exchange: Exchange): void => {
        exchange.handler = handler
        guard(exchange)
      }
      return { ...route, enter }
    }
    return guardDirectRoute(route, guard)
  })
}

function guardDirectRoute(route: BoundDirectRoute, guard: (exchange: Exchange) => void): GuardedDirectRoute {
  const { handler, errorHeaders, answerOn, path } = route
  const restAt = path.endsWith(BELOW) ? path.length - 1 : Infinity
  const enter = (exchange: Exchange): void => {
    exchange.handler = handler
    exchange.errorHeaders = errorHeaders
    guard(exchange)
  }
  return {
    ...route,
    enter,
    answer: (exchange) => {
      enter(exchange)
      return answerOn(exchange, exchange.target.path.slice(restAt))
    },
  }
}
