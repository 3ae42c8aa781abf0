import type { RequestTimeouts } from './transport/node/standard-server.js'

/** How long every server of the service waits for its callers. */
export const REQUEST_TIMEOUTS: RequestTimeouts = {
  // A caller that is slow to send its headers must not hold a connection for ever.
  headersMs: 10_000,
  requestMs: 60_000,
  // Longer than the idle time of the usual load balancers, so that they and not we close a connection.
  keepAliveMs: 75_000,
  // A person may well stop a download for a moment.
  stalledMs: 60_000,
}
