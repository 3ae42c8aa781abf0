import { Hono } from 'hono'

import { executionTimeline } from '../../audit/execution-timeline.js'
import type { TimelineDeps } from '../../audit/execution-timeline.js'
import type { AppEnv } from '../app-env.js'
import type { Authenticate } from '../authenticate.js'
import { jsonAnswer } from '../json-answer.js'

/** `GET /executions/{id}/timeline`: one execution's story. */
export function executionRoutes(authenticate: Authenticate, deps: TimelineDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/:id/timeline', async (c) => {
    c.env.exchange.handler = 'executions'
    authenticate(c.env.exchange, ['auditor'])
    return jsonAnswer(await executionTimeline(deps, c.req.param('id')))
  })
  return app
}
