import type { Role } from '../../config/sections/roles.js'
import type { Caller, Exchange } from './exchange.js'

/** A caller as recorded in the audit trail. */
export interface CallerRecord {
  readonly user: string | undefined
  readonly origin: string
}

/**
 * Returns the caller's token name or claimed name, and the address, id and trace of the request.
 */
export function callerOf(exchange: Exchange): CallerRecord {
  const { remoteAddress = 'unknown', requestId, traceId } = exchange
  const trace = traceId === undefined ? '' : ` trace ${traceId}`
  return { user: exchange.callerName, origin: `${remoteAddress} request ${requestId}${trace}` }
}

/** Whether a caller has a role. Admins have all. */
export function hasRole({ isAdmin, roles = [] }: Caller, role: Role): boolean {
  return isAdmin || roles.includes(role)
}

/** Returns the caller with the current time. */
export function actorOf(
  exchange: Exchange,
  { now }: { readonly now: () => number },
): CallerRecord & { readonly nowMs: number } {
  return { ...callerOf(exchange), nowMs: now() }
}
