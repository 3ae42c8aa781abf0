import type { Server as NetServer } from 'node:net'

import { AppError } from '../errors/app-error.js'
import type { StandardServer } from './transport/node/standard-server.js'
import type { SecureListener } from './transport/tls/secure-listener.js'

/**
 * How long connections without a request stay open: who sends the next one in the meantime gets its answer, which says that it is the
 * last. Ended at once, a request that is on its way would be lost. A busy machine keeps callers from sending as much as it keeps this
 * process from reading: looks that come late do not count.
 */
const GRACE_MS = 300
const MAX_GRACE_MS = 1500
const POLL_MS = 50
const MAX_TIMER_DELAY_MS = 25
/** Connections that wait to be accepted are reset when the listener closes: so many turns of the event loop may go by to accept them. */
const MAX_ACCEPTING_TURNS = 100
const HANDSHAKE_MS = 2000
/** For the refusals at the end to reach whoever still reads. */
const REFUSAL_FLUSH_MS = 250

/**
 * Stops listening, answers the requests under way, and resolves when all connections have ended. A connection without a
 * request stays open for a short grace period. Requests without a response after `drainMs` are refused with `unavailable`;
 * then all connections end.
 */
export async function drainServer(
  { server, connections }: StandardServer,
  drainMs: number,
  secure?: Pick<SecureListener, 'endHandshakes'>,
): Promise<void> {
  // Callers of connections that wait to be accepted may have sent a request.
  await acceptWaiting(server)
  connections.drain()
  let end: NodeJS.Timeout | undefined
  // A caller that still agrees on keys may have a request; one that takes this long has none.
  const lateHandshakes = setTimeout(() => secure?.endHandshakes(), Math.min(HANDSHAKE_MS, drainMs))
  const deadline = setTimeout(() => {
    const stopped = new AppError('unavailable', 'the service is stopping: try again later')
    connections.refuseAll(stopped)
    end = setTimeout(() => server.closeAllConnections(), REFUSAL_FLUSH_MS)
  }, drainMs)
  const closeIdle = server.closeIdleConnections.bind(server)
  // `close` calls it at once, and a request may be on its way over an idle connection.
  server.closeIdleConnections = () => undefined
  const grace = new Grace(drainMs)
  const endIdle = (): void => {
    closeIdle()
    connections.endUnused()
  }
  // What has arrived is read before a connection counts as idle.
  const polling = setInterval(() => {
    if (grace.isOver()) setImmediate(endIdle)
  }, POLL_MS)
  await new Promise((resolve) => server.close(resolve))
  for (const timer of [polling, lateHandshakes, deadline, end]) clearTimeout(timer)
}

/** Resolves when a whole turn of the event loop has brought no connection. */
async function acceptWaiting(server: NetServer): Promise<void> {
  let accepted = 0
  const count = (): void => void (accepted += 1)
  server.on('connection', count)
  for (let turn = 0; turn < MAX_ACCEPTING_TURNS; turn += 1) {
    const before = accepted
    // The first comes before anything new is read, the second after it.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    if (accepted === before) break
  }
  server.off('connection', count)
}

/** How long idle connections are kept, told by looks that ought to be `LOOK_MS` apart. */
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
