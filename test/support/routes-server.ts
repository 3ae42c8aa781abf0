import { makeApplication, mountRoutes } from '../../src/http/web-application.js'
import { makeAuthenticate } from '../../src/http/pipeline/authenticate.js'
import type { TokenRecord } from '../../src/http/pipeline/authenticate.js'
import { guardRoutes } from '../../src/http/pipeline/guarded-routes.js'
import { makeFindDirectRoute } from '../../src/http/pipeline/find-direct-route.js'
import type { BoundRoute } from '../../src/http/pipeline/route.js'
import { makeServerLimits, startServer } from '../../src/http/server.js'
import type { RunningServer } from '../../src/http/server.js'
import { makeRequestHandler } from '../../src/http/transport/handle-request.js'
import type { Exchange } from '../../src/http/exchange/exchange.js'

export interface RoutesServer extends RunningServer {
  /** The completed exchanges, as reported to metrics and log. */
  readonly finished: readonly Exchange[]
}

/**
 * A server on a free port of loopback with these routes and nothing else, with the direct route or
 * without.
 */
export async function startRoutesServer(
  routes: readonly BoundRoute[],
  {
    tokens = [],
    isDirect = true,
    keepsFinished = true,
  }: {
    readonly tokens?: readonly TokenRecord[]
    readonly isDirect?: boolean
    readonly keepsFinished?: boolean
  },
): Promise<RoutesServer> {
  const guarded = guardRoutes(routes, { requests: makeAuthenticate({ tokens, openToOrchestrator: false }) })
  const find = isDirect ? makeFindDirectRoute(guarded) : undefined
  const finished: Exchange[] = []
  const handle = makeRequestHandler({
    admit: () => undefined,
    find,
    application: makeApplication(mountRoutes(guarded)),
    finished: (exchange) => {
      if (keepsFinished) finished.push(exchange)
    },
  })
  const server = await startServer(handle, {
    listenOn: { host: '127.0.0.1', port: 0 },
    limits: makeServerLimits(1_000_000),
  })
  return { ...server, finished }
}
