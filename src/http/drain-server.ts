import { Server as NetServer } from 'node:net'

import { AppError } from '../errors/app-error.js'
import type { FastTransport } from './transport/fast/open-fast-transport.js'
import type { StandardServer } from './transport/node/standard-server.js'

/**
 * How long connections without a request stay open: who sends the next one in the meantime gets its answer, which says that it is the
 * last. Ended at once, a request that is on its way would be lost.
 */
const GRACE_MS = 300
const LOOK_MS = 50
/** For the refusals at the end to reach whoever still reads. */
const LAST_WORDS_MS = 250

/**
 * Stops listening, answers what was asked, and resolves when all connections have ended: those without a request after a short
 * grace, each other one with its answer. What has no answer after `drainMs` is refused with `unavailable`; then all connections end.
 */
export function drainServer(
  { server, connections }: StandardServer,
  fastTransport: FastTransport | undefined,
  drainMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    connections.drain()
    fastTransport?.drain()
    // What has arrived is read before a connection is taken for idle.
    const endIdle = (): void =>
      void setImmediate(() => {
        fastTransport?.endIdle()
        server.closeIdleConnections()
        connections.endUnused()
      })
    let looks: NodeJS.Timeout | undefined
    let end: NodeJS.Timeout | undefined
    const grace = setTimeout(
      () => {
        endIdle()
        looks = setInterval(endIdle, LOOK_MS)
      },
      Math.min(GRACE_MS, drainMs),
    )
    const deadline = setTimeout(() => {
      const stopped = new AppError('unavailable', 'the service is stopping: ask again later')
      fastTransport?.refuseAll(stopped)
      connections.refuseAll(stopped)
      end = setTimeout(() => {
        fastTransport?.destroy()
        server.closeAllConnections()
      }, LAST_WORDS_MS)
    }, drainMs)
    // The web server's own would end all idle connections at once.
    NetServer.prototype.close.call(server, () => {
      for (const timer of [grace, looks, deadline, end]) clearTimeout(timer)
      resolve()
    })
  })
}
