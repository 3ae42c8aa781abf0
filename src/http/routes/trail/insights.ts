import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { countRefusals } from '../../../decisions/refusals.js'
import type { DecisionQueryDeps } from '../../../decisions/query-decisions.js'
import { pathOfKey, printPackageName } from '../../../rego/index.js'
import type { Snapshot } from '../../../rego/index.js'
import { deliveryMetrics } from '../../../events/delivery-metrics.js'
import { readRuns } from '../../../events/read-runs.js'
import type { Reader } from '../../../store/ports/readers.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { AfterText, NextPage, Time, json, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface InsightRoutesDeps {
  readonly reader: Reader
  readonly now: () => number
  readonly policies: { readonly current: Snapshot }
  /** Absent if decisions are not stored. */
  readonly decisions: DecisionQueryDeps | undefined
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

const DEFAULT_PAGE = 50
const MAX_PAGE = 200
const MAX_DAYS = 90
const RefusalQuery = z.strictObject({
  days: z.coerce.number().int().min(1).max(MAX_DAYS).default(14).describe('Number of days that end now.'),
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterText,
})
const Refusals = z.looseObject({
  package: z.string(),
  counts: z.array(z.int()).describe('Denials of each day, oldest first.'),
  total: z.int(),
  isMore: z.boolean().describe('True if there are more than `total`.'),
})

/** `GET /insights/refusals` and `/insights/delivery`: denials by policy and day, and the four DORA metrics of a time range, by default the last 30 days. */
export const insightRoutes = [
  routesOf<InsightRoutesDeps>().route({
    method: 'GET',
    path: '/insights/refusals',
    roles: ['auditor'],
    handler: 'insights',
    summary: 'Denials of each loaded package by day',
    query: RefusalQuery,
    answers: {
      200: json('A page, ordered by package.', z.object({ packages: z.array(Refusals), ...NextPage })),
      404: { description: 'The decision log is disabled.' },
    },
    answer: async ({ query: { days, limit, cursor } }, { policies, decisions, now }) => {
      if (decisions === undefined) {
        throw new AppError('not_found', 'The decision log is disabled. Set decisions.enabled to true.')
      }
      const all = policies.current.packages.map((key) => printPackageName(pathOfKey(key))).sort()
      const rest = cursor === undefined ? all : all.filter((name) => name > cursor)
      const listed = rest.slice(0, limit)
      const packages = await countRefusals(decisions, listed, { toMs: now(), periodMs: DAY_MS, count: days })
      const last = listed.at(-1)
      return jsonAnswer({ packages, ...(rest.length > limit && { nextCursor: last }) })
    },
  }),
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
