import type { Server as NetServer } from 'node:net'

import { AppError } from '../errors/app-error.js'
import type { StandardServer } from './transport/node/standard-server.js'
import type { SecureListener } from './transport/tls/secure-listener.js'

/**
 * How long idle connections stay open while draining. A request that arrives in this time is
 * answered with `Connection: close`. Polls that fire late do not count, since a busy machine delays
 * clients as much as this process.
 */
const GRACE_MS = 300
const MAX_GRACE_MS = 1500
const POLL_MS = 50
const MAX_TIMER_DELAY_MS = 25
/**
 * Connections in the accept queue are reset when the listener closes. Up to this many turns of the
 * event loop are spent on accepting them.
 */
const MAX_ACCEPTING_TURNS = 100
const HANDSHAKE_MS = 2000
/** Time for the last refusals to reach clients. */
const REFUSAL_FLUSH_MS = 250

/**
 * Stops listening, answers the requests under way, and resolves when all connections have ended. A
 * connection without a request stays open for a short grace period. Requests without a response
 * after `drainMs` are refused with `unavailable`; then all connections end.
 */
export async function drainServer(
  { server, connections }: StandardServer,
  drainMs: number,
  secure?: Pick<SecureListener, 'endHandshakes'>,
): Promise<void> {
  // Clients in the accept queue may already have sent a request.
  await acceptWaiting(server)
  connections.drain()
  let end: NodeJS.Timeout | undefined
  // A client that is still in the TLS handshake may have a request; one that takes this long has
  // none.
  const lateHandshakes = setTimeout(() => secure?.endHandshakes(), Math.min(HANDSHAKE_MS, drainMs))
  const deadline = setTimeout(() => {
    const stopped = new AppError('unavailable', 'the service is stopping; retry later')
    connections.refuseAll(stopped)
    end = setTimeout(() => server.closeAllConnections(), REFUSAL_FLUSH_MS)
  }, drainMs)
  const closeIdle = server.closeIdleConnections.bind(server)
  // `close` calls it immediately, but a request may be on its way over an idle connection.
  server.closeIdleConnections = () => undefined
  const grace = new Grace(drainMs)
  const endIdle = (): void => {
    closeIdle()
    connections.endUnused()
  }
  // Read pending data before a connection counts as idle.
  const polling = setInterval(() => {
    if (grace.isOver()) setImmediate(endIdle)
  }, POLL_MS)
  await new Promise((resolve) => server.close(resolve))
  for (const timer of [polling, lateHandshakes, deadline, end]) clearTimeout(timer)
}

/** Resolves after a turn of the event loop without a new connection. */
async function acceptWaiting(server: NetServer): Promise<void> {
  let accepted = 0
  const count = (): void => void (accepted += 1)
  server.on('connection', count)
  for (let turn = 0; turn < MAX_ACCEPTING_TURNS; turn += 1) {
    const before = accepted
    // The first runs before new data is read, the second after it.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    if (accepted === before) break
  }
  server.off('connection', count)
}

/** Grace period for idle connections, measured by polls every `POLL_MS`. */
class Grace {
  readonly #endsAt: number
  #lastPollAt = performance.now()
  #punctualMs = 0

  constructor(drainMs: number) {
    this.#endsAt = this.#lastPollAt + Math.min(MAX_GRACE_MS, drainMs)
  }

  isOver(): boolean {
    const now = performance.now()
    if (now - this.#lastPollAt < POLL_MS + MAX_TIMER_DELAY_MS) this.#punctualMs += POLL_MS
    this.#lastPollAt = now
    return this.#punctualMs >= GRACE_MS || now >= this.#endsAt
  }
}
