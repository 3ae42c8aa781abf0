import { Hono } from 'hono'

import type { NotedWork } from '../../lib/work-journal.js'
import type { WorkSetAside } from '../../lib/work-attempts.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { actorOf } from '../exchange/caller-of.js'
import { jsonAnswer } from '../exchange/json-answer.js'

/** What the routes of background work need. */
export interface BackgroundWorkRoutesDeps {
  readonly setAside: () => readonly WorkSetAside[]
  readonly now: () => number
  /** Takes work up again. Raises `not_found`, and what its kind raises. */
  readonly resume: (work: NotedWork, actor: ReturnType<typeof actorOf>) => Promise<void>
}

/** `GET /backgroundWork` lists what is set aside, since it ended the service twice; `POST /backgroundWork/{kind}/{key}/resume` takes it up again. */
export function backgroundWorkRoutes(
  authenticate: Authenticate,
  deps: BackgroundWorkRoutesDeps,
): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/', (c) => {
    c.env.exchange.handler = 'background_work'
    authenticate(c.env.exchange, ['auditor'])
    return jsonAnswer({ setAside: deps.setAside() })
  })
  app.post('/:kind/:key/resume', async (c) => {
    c.env.exchange.handler = 'background_work'
    authenticate(c.env.exchange, ['admin'])
    const work = { kind: c.req.param('kind'), key: c.req.param('key') }
    await deps.resume(work, actorOf(c.env.exchange, deps))
    return jsonAnswer({ resumed: work })
  })
  return app
}
