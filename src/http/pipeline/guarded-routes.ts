import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate } from './authenticate.js'
import type { BoundApplicationRoute, BoundDirectRoute, BoundRoute } from './route.js'
import { ROLES } from '../../config/sections/roles.js'
import { AppError, toAppError } from '../../errors/app-error.js'

/** A route with its access check. */
export type GuardedRoute = GuardedApplicationRoute | GuardedDirectRoute

export type GuardedApplicationRoute = BoundApplicationRoute & {
  /** Sets the metric label. Raises `unauthenticated` or `forbidden` for a caller without access. */
  readonly enter: (exchange: Exchange) => Promise<void>
}
export type GuardedDirectRoute = BoundDirectRoute & {
  /**
   * Sets the metric label and responds on the exchange. Raises `unauthenticated` or `forbidden` for
   * a caller without access.
   */
  readonly answer: (exchange: Exchange) => Promise<void>
}

const BELOW = '/*'

/** Who may send requests. */
export interface AccessRules {
  readonly requests: Authenticate
  /** For pages; by default they are authenticated like other requests. */
  readonly pages?: Authenticate | undefined
  /** Undefined if no policy authorizes requests. */
  readonly authorize?: Authorize | undefined
}

/** Raises `unauthenticated` or `forbidden` for a request that a policy refuses. */
export type Authorize = (exchange: Exchange) => Promise<void>

/** Adds access checks to routes. Probes never depend on a policy. */
export function guardRoutes(routes: readonly BoundRoute[], rules: AccessRules): readonly GuardedRoute[] {
  const { requests, pages = requests, authorize } = rules
  return routes.map((route) => {
    const guard = makeGuard(route, route.isPage === true ? pages : requests)
    const isAuthorized = authorize !== undefined && route.isProbe !== true
    const whole = isAuthorized ? withAuthorization(route, guard, rules, authorize) : guard
    return route.kind === 'direct' ? guardDirectRoute(route, whole) : guardApplicationRoute(route, whole)
  })
}

function withAuthorization(
  { roles, credential }: BoundRoute,
  guard: Guard,
  rules: AccessRules,
  authorize: Authorize,
): Guard {
  const isOpen = roles === 'anyone' || (roles === undefined && credential !== undefined)
  if (isOpen) return authorizeAnyone(rules, authorize)
  return async (exchange) => {
    await guard(exchange)
    await authorize(exchange)
  }
}

/**
 * Creates the authorization of requests that need no credential, also at unknown paths. The policy
 * sees the caller of a valid one.
 */
export function authorizeAnyone({ requests, pages = requests }: AccessRules, authorize: Authorize): Guard {
  return async (exchange) => {
    const { caller } = exchange
    try {
      await pages(exchange, ROLES)
    } catch (raw) {
      if (!(raw instanceof AppError)) throw raw
      exchange.caller = caller
    }
    try {
      await authorize(exchange)
    } finally {
      exchange.caller = caller
    }
  }
}

function guardApplicationRoute(route: BoundApplicationRoute, guard: Guard): GuardedApplicationRoute {
  const enter = async (exchange: Exchange): Promise<void> => {
    exchange.handler = route.handler
    exchange.showsErrors = route.showsErrors ?? false
    await guard(exchange)
  }
  return { ...route, enter }
}

function guardDirectRoute(route: BoundDirectRoute, guard: Guard): GuardedDirectRoute {
  const { handler, errorHeaders, answerOn, path, showsErrors = false } = route
  const restAt = path.endsWith(BELOW) ? path.length - 1 : Infinity
  const answer = async (exchange: Exchange): Promise<void> => {
    exchange.handler = handler
    exchange.errorHeaders = errorHeaders
    exchange.showsErrors = showsErrors
    await guard(exchange)
    if (exchange.refusal !== undefined) throw exchange.refusal
    const rest = exchange.target.path.slice(restAt)
    // Requests with a body wait for their turn after their body is read.
    if (route.isProbe !== true && route.body === undefined) await exchange.takeTurn(0)
    await answerOn(exchange, rest)
  }
  return { ...route, answer }
}

/** Sets the caller. Raises `unauthenticated` or `forbidden` for a caller without access. */
export type Guard = (exchange: Exchange) => Promise<void>

/**
 * Creates the access check of a route. Callers need one of the route's roles. Anyone may call a
 * route with the role `anyone` or with its own credential. A route with neither is closed.
 */
function makeGuard(route: BoundRoute, authenticate: Authenticate): Guard {
  const { roles, credential, reserves401ForDenials } = route
  if (roles === 'anyone' || (roles === undefined && credential !== undefined)) return () => Promise.resolve()
  if (roles === undefined || roles.length === 0) return () => Promise.reject(closedToEverybody(route))
  if (reserves401ForDenials !== true) return (exchange) => authenticate(exchange, roles)
  return async (exchange) => {
    try {
      await authenticate(exchange, roles)
    } catch (raw) {
      throw toForbidden(toAppError(raw))
    }
  }
}

function closedToEverybody({ method, path }: BoundRoute): AppError {
  return new AppError('forbidden', `${method} ${path} is closed: it names no role with access`, {
    code: 'route_closed',
  })
}

function toForbidden(error: AppError): AppError {
  if (error.kind !== 'unauthenticated') return error
  return new AppError('forbidden', error.message, { code: error.code, cause: error })
}
