import { AppError, toAppError } from '../../errors/app-error.js'
import type { Exchange } from '../exchange/exchange.js'
import type { Authenticate } from './authenticate.js'
import type { BoundRoute } from './route.js'

/** Raises `unauthenticated` or `forbidden` for a caller who may not ask, and sets who calls. */
export type Guard = (exchange: Exchange) => void

/** How callers are let in: those of the API, and people in browsers. */
export interface Authentication {
  readonly requests: Authenticate
  readonly pages: Authenticate
}

/**
 * What lets callers through to a route: those with a role that it names, anyone where it says so or checks a credential of its own, and nobody
 * where it says nothing.
 */
export function makeGuard(route: BoundRoute, { requests, pages }: Authentication): Guard {
  const { roles, credential, deniesWith401, isPage } = route
  const authenticate = isPage === true ? pages : requests
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

function refuseEverybody({ method, path }: BoundRoute): never {
  throw new AppError('forbidden', `${method} ${path} is closed: it names no role that may ask`, {
    code: 'route_closed',
  })
}

function withoutStatus401(error: AppError): AppError {
  if (error.kind !== 'unauthenticated') return error
  return new AppError('forbidden', error.message, { code: error.code, cause: error })
}
