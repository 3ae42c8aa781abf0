import { Hono } from 'hono'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { deliveryFigures } from '../../events/delivery-figures.js'
import { readRuns } from '../../events/read-runs.js'
import type { Reader } from '../../store/ports/readers.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { jsonAnswer } from '../exchange/json-answer.js'
import { Moment, parseQuery } from '../input/parse-query.js'

export interface InsightRoutesDeps {
  readonly reader: Reader
  readonly now: () => number
}

const DAY_MS = 86_400_000
const DEFAULT_WINDOW_DAYS = 30
/** Runs before the window tell what stood broken when it began. */
const LOOK_BACK_DAYS = 30

const DeliveryQuery = z.strictObject({
  application: z.string().optional(),
  from: Moment.optional(),
  to: Moment.optional(),
  runs: z.enum(['deploying', 'all']).default('deploying'),
})

/** `GET /insights/delivery`: the four delivery figures of a window, 30 days up to now by default. */
export function insightRoutes(authenticate: Authenticate, { reader, now }: InsightRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/delivery', async (c) => {
    c.env.exchange.handler = 'insights'
    authenticate(c.env.exchange, ['auditor'])
    const query = parseQuery(DeliveryQuery, c.req.query())
    const to = query.to ?? now()
    const from = query.from ?? to - DEFAULT_WINDOW_DAYS * DAY_MS
    if (from >= to) throw new AppError('invalid', 'from: must be before to')
    const fromMs = from - LOOK_BACK_DAYS * DAY_MS
    const runs = await readRuns(reader, { application: query.application, fromMs, toMs: to })
    return jsonAnswer({
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      ...deliveryFigures(runs, { from, to }, query.runs),
    })
  })
  return app
}
