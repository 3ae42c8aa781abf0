import { Hono } from 'hono'
import { z } from 'zod'

import { findDecision, queryDecisions } from '../../decisions/query-decisions.js'
import type { DecisionQueryDeps } from '../../decisions/query-decisions.js'
import { AppError } from '../../errors/app-error.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { jsonAnswer } from '../exchange/json-answer.js'
import { Moment, parseQuery } from '../input/parse-query.js'

/** Absent when decisions are not kept. */
export type DecisionRoutesDeps = DecisionQueryDeps | undefined

const PageQuery = z.strictObject({
  path: z
    .string()
    .transform((path) => path.replace(/^\/?(?:v1\/data\/)?/, ''))
    .optional(),
  outcome: z.enum(['allow', 'deny', 'defined', 'undefined', 'error']).optional(),
  application: z.string().optional(),
  executionId: z.string().optional(),
  from: Moment.optional(),
  to: Moment.optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
  cursor: z.string().optional(),
})

/** `GET /decisions` pages through the decision log, newest first; `GET /decisions/{id}` shows one decision. */
export function decisionRoutes(authenticate: Authenticate, deps: DecisionRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use(async (c, next) => {
    c.env.exchange.handler = 'decisions'
    authenticate(c.env.exchange, ['auditor'])
    await next()
  })
  app.get('/', async (c) => {
    const { from, to, ...query } = parseQuery(PageQuery, c.req.query())
    return jsonAnswer(await queryDecisions(requireLog(deps), { ...query, fromMs: from, toMs: to }))
  })
  app.get('/:decisionId', async (c) =>
    jsonAnswer(await findDecision(requireLog(deps), c.req.param('decisionId'))),
  )
  return app
}

function requireLog(deps: DecisionRoutesDeps): DecisionQueryDeps {
  if (deps !== undefined) return deps
  throw new AppError('not_found', 'decisions are not kept: set decisions.enabled to true', {
    code: 'not_found',
  })
}
