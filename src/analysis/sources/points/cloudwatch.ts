import { z } from 'zod'

import { AppError, toError } from '../../../errors/app-error.js'
import { schemaSentence } from '../../../lib/validation/schema-sentence.js'
import type { Scope } from '../../sources.js'
import { fillMembers } from '../templates/fill-search-query.js'
import { escapedIn, fillSqlText } from '../templates/fill-sql-text.js'
import { Filling } from '../templates/filling.js'
import { PLAIN } from '../templates/places.js'
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
 * `GetMetricData` of CloudWatch in JSON. A query is a metric, `{"namespace": …, "metricName": …, "dimensions": {…}, "stat": "p99"}`, or an expression:
 * metric math, a SEARCH, or a query of Metrics Insights.
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
    const told = [...(Messages ?? [])].map(({ Code = '', Value = '' }) => `${Code}: ${Value}`)
    const failed = results.find(
      ({ StatusCode }) => StatusCode === 'InternalError' || StatusCode === 'Forbidden',
    )
    if (failed !== undefined) return `the query ended with ${failed.StatusCode ?? ''}: ${told.join(', ')}`
    return {
      series: results.map(({ Label, Timestamps, Values }) => ({
        label: Label ?? '',
        points: Timestamps.map((seconds, index) => [seconds * MS_PER_SECOND, Values[index] ?? null] as const),
      })),
      // `PartialData` says that there are more pages.
      ...{ warnings: told, nextPage: NextToken ?? undefined },
    }
  },
  // One request gives 100,800 values at the most.
  pointsPerRequest: 50_000,
}

function fillMetric(template: string, scope: Scope): string {
  if (!template.trimStart().startsWith('{')) {
    return fillSqlText(template, scope, { string: escapedIn("'"), name: escapedIn('"') })
  }
  const filling = new Filling(scope)
  const filled = filling.finish(fillMembers(parseJson(template), PLAIN, filling))
  const metric = Metric.safeParse(filled, { error: schemaSentence, reportInput: true })
  if (metric.success) return JSON.stringify(metric.data)
  const problems = metric.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  throw new AppError('invalid', `the query is no metric of CloudWatch: ${problems.join('; ')}`, {
    code: 'invalid_query',
  })
}

function parseJson(template: string): object {
  try {
    // It starts with a brace, so that it is an object or a syntax error.
    return JSON.parse(template) as object
  } catch (raw) {
    throw new AppError('invalid', `the query starts like JSON but is not: ${toError(raw).message}`, {
      code: 'invalid_query',
    })
  }
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
