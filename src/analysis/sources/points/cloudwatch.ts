import { z } from 'zod'

import type { Scope } from '../../sources.js'
import { fillJsonQuery } from '../templates/fill-json-query.js'
import { fillMembers } from '../templates/fill-search-query.js'
import { escapedIn, fillSqlText } from '../templates/fill-sql-text.js'
import { PLAIN } from '../templates/escape-contexts.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
/** Names the operation in the JSON protocol of the service. */
const TARGET = 'GraniteServiceVersion20100801.GetMetricData'

/** A metric of CloudWatch in a template. */
const Metric = z.strictObject({
  namespace: z.string().min(1),
  metricName: z.string().min(1),
  dimensions: z.record(z.string(), z.string()).default({}),
  stat: z.string().min(1).default('Average'),
  unit: z.string().optional(),
})

const Answer = z.object({
  NextToken: z.string().nullish(),
  Messages: z.array(z.object({ Code: z.string().optional(), Value: z.string().optional() })).nullish(),
  MetricDataResults: z.array(
    z.object({
      Label: z.string().nullish(),
      StatusCode: z.string().nullish(),
      Timestamps: z.array(z.number()).default([]),
      Values: z.array(z.unknown()).default([]),
    }),
  ),
})

/**
 * `GetMetricData` of CloudWatch in JSON. A query is a metric, `{"namespace": …, "metricName": …,
 * "dimensions": {…}, "stat": "p99"}`, or an expression: metric math, a SEARCH, or a query of
 * Metrics Insights.
 */
export const cloudWatchApi: PointsApi = {
  fill: fillMetric,
  request: (text, grid, page) => ({
    method: 'POST',
    path: '/',
    headers: { 'x-amz-target': TARGET },
    contentType: 'application/x-amz-json-1.0',
    json: {
      StartTime: grid.startMs / MS_PER_SECOND,
      EndTime: endMs(grid) / MS_PER_SECOND,
      ScanBy: 'TimestampAscending',
      ...(page !== undefined && { NextToken: page }),
      MetricDataQueries: [{ Id: 'q', ReturnData: true, ...toQuery(text, grid.stepMs / MS_PER_SECOND) }],
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) return notAnAnswer('GetMetricData')
    const { NextToken, Messages, MetricDataResults: results } = answer.data
    const messages = [...(Messages ?? [])].map(({ Code = '', Value = '' }) => `${Code}: ${Value}`)
    const failed = results.find(
      ({ StatusCode }) => StatusCode === 'InternalError' || StatusCode === 'Forbidden',
    )
    if (failed !== undefined) return `the query ended with ${failed.StatusCode ?? ''}: ${messages.join(', ')}`
    return {
      series: results.map(({ Label, Timestamps, Values }) => ({
        label: Label ?? '',
        points: Timestamps.map((seconds, index) => [seconds * MS_PER_SECOND, Values[index] ?? null] as const),
      })),
      // `PartialData` means that there are more pages.
      ...{ warnings: messages, nextPage: NextToken ?? undefined },
    }
  },
  // One request gives 100,800 values at the most.
  pointsPerRequest: 50_000,
}

function fillMetric(template: string, scope: Scope): string {
  if (!template.trimStart().startsWith('{')) {
    return fillSqlText(template, scope, { string: escapedIn("'"), name: escapedIn('"') })
  }
  return fillJsonQuery(template, scope, {
    ...{ what: 'metric of CloudWatch', schema: Metric },
    fill: (query, filling) => fillMembers(query, PLAIN, filling),
  })
}

function toQuery(text: string, periodSeconds: number): object {
  if (!text.startsWith('{')) return { Expression: text, Period: periodSeconds }
  const { namespace, metricName, dimensions, stat, unit } = Metric.parse(JSON.parse(text))
  return {
    MetricStat: {
      Metric: {
        ...{ Namespace: namespace, MetricName: metricName },
        Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
      },
      ...{ Period: periodSeconds, Stat: stat, ...(unit !== undefined && { Unit: unit }) },
    },
  }
}
