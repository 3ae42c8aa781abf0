import { z } from 'zod'

import type { Filling, EscapeContext } from '../templates/filling.js'
import { AppError } from '../../../errors/app-error.js'
import { fillJsonQuery } from '../templates/fill-json-query.js'
import { PLAIN, URL_PART, WORD } from '../templates/escape-contexts.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const API_VERSION = '2019-07-01'
/** Maximum number of series of a query with a filter; the server's default is ten. */
const MAX_SERIES = 1000
const MS_PER_MINUTE = 60_000
/** Resolutions at which values are stored, longest first (ISO 8601). */
const INTERVALS: readonly (readonly [minutes: number, text: string])[] = [
  [1440, 'P1D'],
  [720, 'PT12H'],
  [360, 'PT6H'],
  [60, 'PT1H'],
  [30, 'PT30M'],
  [15, 'PT15M'],
  [5, 'PT5M'],
  [1, 'PT1M'],
]

/** A metric of Azure Monitor in a template. */
const Metric = z.strictObject({
  resource: z
    .string()
    .regex(/^\/subscriptions\/[^?#]+$/, { error: 'must be the id of a resource: /subscriptions/…' }),
  metric: z.string().min(1),
  namespace: z.string().min(1).optional(),
  aggregation: z.enum(['Average', 'Total', 'Minimum', 'Maximum', 'Count']).default('Average'),
  filter: z.string().min(1).optional(),
})

const Answer = z.object({
  value: z.array(
    z.object({
      name: z.object({ value: z.string() }).optional(),
      errorCode: z.string().nullish(),
      errorMessage: z.string().nullish(),
      timeseries: z
        .array(
          z.object({
            metadatavalues: z
              .array(z.object({ name: z.object({ value: z.string() }), value: z.string() }))
              .nullish(),
            data: z.array(z.looseObject({ timeStamp: z.string() })).nullish(),
          }),
        )
        .nullish(),
    }),
  ),
})
type Series = NonNullable<z.output<typeof Answer>['value'][number]['timeseries']>[number]

/** Inside single quotes of OData, which are doubled. A star alone would match all values. */
const ODATA_STRING: EscapeContext = {
  allows: 'text other than "*" without control characters',
  escape: (value) => (value === '*' || /\p{Cc}/u.test(value) ? undefined : value.replaceAll("'", "''")),
}

/**
 * The metrics of a resource in Azure Monitor. A query is `{"resource": "/subscriptions/…",
 * "metric": …, "aggregation": "Average", "filter": …}`. Its values are under the name of the
 * aggregation, with a series for each combination of the dimensions in the filter.
 */
export const azureApi: PointsApi = {
  fill: (template, scope) => {
    if (!template.trimStart().startsWith('{')) {
      throw new AppError('invalid', 'the query must be {"resource": "/subscriptions/…", "metric": …}', {
        code: 'invalid_query',
      })
    }
    return fillJsonQuery(template, scope, { what: 'metric of Azure', schema: Metric, fill: fillMetric })
  },
  request: (text, grid) => {
    const { resource, metric, namespace, aggregation, filter } = Metric.parse(JSON.parse(text))
    const minutes = grid.stepMs / MS_PER_MINUTE
    const [, interval] = INTERVALS.find(([least]) => least <= minutes) ?? [1, 'PT1M']
    return {
      method: 'GET',
      path: `${resource.replace(/\/+$/, '')}/providers/Microsoft.Insights/metrics`,
      search: {
        ...{ 'api-version': API_VERSION, metricnames: metric.replaceAll(',', '%2'), aggregation, interval },
        timespan: [grid.startMs, endMs(grid)].map((ms) => new Date(ms).toISOString()).join('/'),
        ...(namespace !== undefined && { metricnamespace: namespace }),
        ...(filter !== undefined && { $filter: filter, top: String(MAX_SERIES) }),
      },
    }
  },
  read: readMetric,
  pointsPerRequest: 1440,
}

function fillMetric(query: Readonly<Record<string, unknown>>, filling: Filling): unknown {
  const fill = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value
    if (name === 'resource') return filling.fill(value, URL_PART)
    return name === 'filter' ? fillFilter(value, filling) : filling.fill(value, PLAIN)
  }
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, fill(name, value)]))
}

function fillFilter(text: string, filling: Filling): string {
  return text
    .split(/('(?:[^']|'')*')/)
    .map((part) => filling.fill(part, part.startsWith("'") ? ODATA_STRING : WORD))
    .join('')
}

function readMetric(json: unknown): ReturnType<PointsApi['read']> {
  const answer = Answer.safeParse(json)
  if (!answer.success) return notAnAnswer('the metrics of Azure Monitor')
  const failed = answer.data.value.find(({ errorCode }) => errorCode && errorCode !== 'Success')
  if (failed !== undefined) {
    return `the query was refused: ${failed.errorCode ?? ''}: ${failed.errorMessage ?? ''}`
  }
  const series = answer.data.value.flatMap(({ name, timeseries }) =>
    (timeseries ?? []).map((one) => toSeries(name?.value ?? '', one)),
  )
  const isCut = series.length >= MAX_SERIES
  return {
    series,
    gaps: isCut ? [`the answer has ${series.length} series, the maximum: narrow the filter`] : [],
  }
}

function toSeries(
  name: string,
  { metadatavalues, data }: Series,
): { label: string; points: readonly (readonly [number, unknown])[] } {
  const dimensions = (metadatavalues ?? []).map((dimension) => `${dimension.name.value}=${dimension.value}`)
  return {
    label: `${name}{${dimensions.join(', ')}}`,
    points: (data ?? []).map(({ timeStamp, ...values }) => {
      const [value = null] = Object.values(values)
      return [Date.parse(timeStamp), value] as const
    }),
  }
}
