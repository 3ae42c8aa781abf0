import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { deliveryMetrics } from '../../../events/delivery-metrics.js'
import { readRuns } from '../../../events/read-runs.js'
import type { Reader } from '../../../store/ports/readers.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface InsightRoutesDeps {
  readonly reader: Reader
  readonly now: () => number
}

const DAY_MS = 86_400_000
const DEFAULT_WINDOW_DAYS = 30
/** Runs before the window show which applications were broken when it began. */
const LOOK_BACK_DAYS = 30

const DeliveryQuery = z.strictObject({
  application: z.string().optional(),
  ...TimeRange,
  runs: z.enum(['deploying', 'all']).default('deploying'),
})

const Durations = z.object({ count: z.int(), medianMs: z.number(), p90Ms: z.number() }).nullable()
const Metrics = z.looseObject({
  deployments: z.int(),
  failedDeployments: z.int(),
  deploymentsPerDay: z.number(),
  changeFailureRate: z.number().nullable(),
  leadTime: Durations,
  timeToRestore: Durations,
  unrestored: z.int(),
})
const Delivery = z.object({
  from: Time,
  to: Time,
  total: Metrics,
  applications: z.array(Metrics.extend({ application: z.string() })),
})

/** `GET /insights/delivery`: the four DORA metrics of a time range, by default the last 30 days. */
export const insightRoutes = [
  routesOf<InsightRoutesDeps>().route({
    method: 'GET',
    path: '/insights/delivery',
    roles: ['auditor'],
    handler: 'insights',
    summary: 'The four DORA metrics, in total and by application',
    query: DeliveryQuery,
    answers: { 200: json('The delivery metrics.', Delivery) },
    answer: async ({ query }, { reader, now }) => {
      const { fromMs: since, toMs: to = now() } = rangeOf(query)
      const from = since ?? to - DEFAULT_WINDOW_DAYS * DAY_MS
      if (from >= to) throw new AppError('invalid', 'since must be before until')
      const fromMs = from - LOOK_BACK_DAYS * DAY_MS
      const runs = await readRuns(reader, { application: query.application, fromMs, toMs: to })
      return jsonAnswer({
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        ...deliveryMetrics(runs, { from, to }, query.runs),
      })
    },
  }),
]
