import { AppError, toAppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate, AuthenticatePage } from './authenticate.js'
import type { BoundRoute } from './route.js'

/** Raises `unauthenticated` or `forbidden` for a caller who may not ask, and sets who calls. */
export type Guard = (exchange: Exchange) => void
/** The same for a page, of which nothing is asked before it is settled. */
export type PageGuard = (exchange: Exchange) => Promise<void>

/**
 * What lets callers through to a route: those with a role that it names, anyone where it says so or checks a credential of its own, and nobody
 * where it says nothing.
 */
export function makeGuard(route: BoundRoute, authenticate: Authenticate): Guard {
  const { roles, credential, deniesWith401 } = route
  if (roles === 'anyone' || (roles === undefined && credential !== undefined)) return () => undefined
  if (roles === undefined || roles.length === 0) return () => refuseEverybody(route)
  if (deniesWith401 !== true) return (exchange) => authenticate(exchange, roles)
  return (exchange) => {
    try {
      authenticate(exchange, roles)
    } catch (raw) {
      throw withoutStatus401(toAppError(raw))
    }
  }
}

/** The same for pages. */
export function makePageGuard(route: BoundRoute, authenticate: AuthenticatePage): PageGuard {
  const { roles, credential } = route
  if (roles === 'anyone' || (roles === undefined && credential !== undefined)) return () => Promise.resolve()
  return async (exchange) => {
    if (roles === undefined || roles.length === 0) refuseEverybody(route)
    await authenticate(exchange, roles)
  }
}

function refuseEverybody({ method, path }: BoundRoute): never {
  throw new AppError('forbidden', `${method} ${path} is closed: it names no role that may ask`, {
    code: 'route_closed',
  })
}

function withoutStatus401(error: AppError): AppError {
  if (error.kind !== 'unauthenticated') return error
  return new AppError('forbidden', error.message, { code: error.code, cause: error })
}
