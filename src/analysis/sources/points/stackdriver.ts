import { z } from 'zod'

import type { Scope } from '../../sources.js'
import type { StepGrid } from '../answers/step-grid.js'
import { fillJsonQuery } from '../templates/fill-json-query.js'
import { fillQuotedText } from '../templates/fill-quoted-text.js'
import { escapedIn } from '../templates/fill-sql-text.js'
import type { Filling } from '../templates/filling.js'
import { PLAIN_WORD } from '../templates/escape-contexts.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
/** Values are not joined over less. */
const MIN_PERIOD_MS = 60_000
const PAGE_SIZE = '10000'

/** The members of a query of time series, with the defaults of Kayenta. */
const Query = z.strictObject({
  filter: z.string().min(1),
  perSeriesAligner: z
    .string()
    .regex(/^ALIGN_(?!NONE$)[A-Z0-9_]+$/, {
      error: 'must be an aligner such as ALIGN_MEAN, ALIGN_RATE or ALIGN_PERCENTILE_99, and not ALIGN_NONE',
    })
    .default('ALIGN_MEAN'),
  crossSeriesReducer: z
    .string()
    .regex(/^REDUCE_[A-Z0-9_]+$/, { error: 'must be a reducer such as REDUCE_MEAN or REDUCE_SUM' })
    .default('REDUCE_MEAN'),
  groupByFields: z.array(z.string().min(1)).max(20).default([]),
})

const Labels = z
  .object({ type: z.string().optional(), labels: z.record(z.string(), z.string()).nullish() })
  .nullish()
const Value = z.object({
  doubleValue: z.unknown().optional(),
  int64Value: z.unknown().optional(),
  boolValue: z.boolean().optional(),
  distributionValue: z.object({ mean: z.unknown().optional() }).optional(),
})
const Answer = z.object({
  timeSeries: z
    .array(
      z.object({
        metric: Labels,
        resource: Labels,
        points: z.array(z.object({ interval: z.object({ endTime: z.string() }), value: Value })).nullish(),
      }),
    )
    .nullish(),
  nextPageToken: z.string().nullish(),
  executionErrors: z.array(z.object({ message: z.string().optional() })).nullish(),
})

/**
 * Google Cloud Monitoring's time series, aligned to the steps. A query is `{"filter": …,
 * "perSeriesAligner": …, "crossSeriesReducer": …, "groupByFields": […]}`, or the filter alone.
 */
export function makeStackdriverApi(project: string): PointsApi {
  return {
    fill: fillQuery,
    request: (text, grid, page) => {
      const { filter, perSeriesAligner, crossSeriesReducer, groupByFields } = Query.parse(JSON.parse(text))
      return {
        method: 'GET',
        path: `/v3/projects/${encodeURIComponent(project)}/timeSeries`,
        search: {
          filter,
          'interval.startTime': new Date(grid.startMs).toISOString(),
          'interval.endTime': new Date(endMs(grid)).toISOString(),
          'aggregation.alignmentPeriod': `${periodMs(grid) / MS_PER_SECOND}s`,
          'aggregation.perSeriesAligner': perSeriesAligner,
          'aggregation.crossSeriesReducer': crossSeriesReducer,
          'aggregation.groupByFields': groupByFields,
          ...{ view: 'FULL', pageSize: PAGE_SIZE },
          ...(page !== undefined && { pageToken: page }),
        },
      }
    },
    read: readSeries,
    pointsPerRequest: 1440,
  }
}

function periodMs({ stepMs }: StepGrid): number {
  return Math.max(stepMs, MIN_PERIOD_MS)
}

function fillQuery(template: string, scope: Scope): string {
  const fillFilter = (text: string, filling: Filling): string => fillQuotedText(text, filling, escapedIn('"'))
  const isObject = template.trimStart().startsWith('{')
  return fillJsonQuery(isObject ? template : JSON.stringify({ filter: template.trim() }), scope, {
    ...{ what: 'query of time series', schema: Query },
    fill: (query, filling) =>
      Object.fromEntries(
        Object.entries(query).map(([name, value]) => {
          if (typeof value !== 'string') return [name, value]
          return [name, name === 'filter' ? fillFilter(value, filling) : filling.fill(value, PLAIN_WORD)]
        }),
      ),
  })
}

/**
 * An aligned value is at the end of its period and belongs to the step that begins with the period.
 */
function readSeries(json: unknown, grid: StepGrid): ReturnType<PointsApi['read']> {
  const answer = Answer.safeParse(json)
  if (!answer.success) return notAnAnswer('a list of time series')
  const { timeSeries, nextPageToken, executionErrors } = answer.data
  const series = (timeSeries ?? []).map(({ metric, resource, points }) => ({
    label: labelOf(metric, resource),
    points: (points ?? [])
      .map(({ interval, value }) => [Date.parse(interval.endTime) - periodMs(grid), valueOf(value)] as const)
      // The latest come first.
      .reverse(),
  }))
  return {
    ...{ series, nextPage: nextPageToken === '' ? undefined : (nextPageToken ?? undefined) },
    gaps: (executionErrors ?? []).map(({ message = '' }) => `the server warns: ${message}`),
  }
}

function labelOf(...parts: readonly z.output<typeof Labels>[]): string {
  const labels = parts.flatMap((part) => Object.entries(part?.labels ?? {}))
  return `${parts[0]?.type ?? ''}{${labels.map((label) => label.join('=')).join(', ')}}`
}

function valueOf({ doubleValue, int64Value, boolValue, distributionValue }: z.output<typeof Value>): unknown {
  if (boolValue !== undefined) return boolValue ? 1 : 0
  return doubleValue ?? int64Value ?? distributionValue?.mean ?? null
}
