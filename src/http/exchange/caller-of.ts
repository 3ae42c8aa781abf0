import type { Exchange } from './exchange.js'

/** Who asked and from where, as the audit trail keeps it. */
export interface CallerRecord {
  readonly user: string | undefined
  readonly origin: string
}

/** The caller's name (of the token, else what is claimed) and the address that the request came from. */
export function callerOf(exchange: Exchange): CallerRecord {
  const address = exchange.remoteAddress ?? 'unknown'
  return { user: exchange.callerName, origin: `${address} request ${exchange.requestId}` }
}

/** The caller as who does something now; the clock is that of the routes. */
export function actorOf(
  exchange: Exchange,
  { now }: { readonly now: () => number },
): CallerRecord & { readonly nowMs: number } {
  return { ...callerOf(exchange), nowMs: now() }
}
