import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { isRecord } from '../../../lib/validation/record.js'
import type { StepGrid } from '../answers/step-grid.js'
import type { EscapeContext } from '../templates/filling.js'
import { escapedIn, fillSqlText } from '../templates/fill-sql-text.js'
import type { PointSeries, PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
/** No query has more steps (NRQL, TIMESERIES). */
const MAX_BUCKETS = 366
const QUERY =
  'query($account: Int!, $nrql: Nrql!) { actor { account(id: $account) { nrql(query: $nrql) { results } } } }'
const OF_WINDOW = /\b(?:TIMESERIES|SINCE|UNTIL)\b/i
/** Members of a result that are no value. */
const NO_VALUES: readonly string[] = ['beginTimeSeconds', 'endTimeSeconds', 'inspectedCount', 'facet']

/** A percent sign is a wildcard after LIKE, and cannot be escaped. */
const STRING: EscapeContext = {
  allows: 'text without "%" or control characters',
  escape: (value) => (value.includes('%') ? undefined : escapedIn("'").escape(value)),
}
const NAME: EscapeContext = {
  allows: 'text without backquotes or control characters',
  escape: (value) => (/[`"\p{Cc}]/u.test(value) ? undefined : value),
}

const Answer = z.object({
  errors: z.array(z.object({ message: z.string() })).nullish(),
  data: z
    .object({
      actor: z.object({
        account: z.object({
          nrql: z.object({ results: z.array(z.record(z.string(), z.unknown())) }).nullable(),
        }),
      }),
    })
    .nullish(),
})

/** NRQL over NerdGraph; `TIMESERIES`, `SINCE` and `UNTIL` are added to the query. */
export function makeNewRelicApi(account: number): PointsApi {
  return {
    fill: (template, scope) => {
      if (!OF_WINDOW.test(template)) return fillSqlText(template, scope, { string: STRING, name: NAME })
      throw new AppError(
        'invalid',
        'leave TIMESERIES, SINCE and UNTIL out of the query: they are added to it',
        {
          code: 'invalid_query',
        },
      )
    },
    withWindow,
    request: (text, grid) => {
      const variables = { account, nrql: withWindow(text, grid) }
      return { method: 'POST', path: '/graphql', json: { query: QUERY, variables } }
    },
    read: readResults,
    pointsPerRequest: MAX_BUCKETS,
  }
}

function withWindow(text: string, grid: StepGrid): string {
  const window = `SINCE ${grid.startMs} UNTIL ${endMs(grid)}`
  return `${text} TIMESERIES ${grid.stepMs / MS_PER_SECOND} SECONDS ${window}`
}

function readResults(json: unknown): ReturnType<PointsApi['read']> {
  const answer = Answer.safeParse(json)
  if (!answer.success) return notAnAnswer('a query to NerdGraph')
  const { errors, data } = answer.data
  const [error] = errors ?? []
  // Errors come with the status 200.
  if (error !== undefined) return `the query was refused: ${error.message}`
  const results = data?.actor.account.nrql?.results
  if (results === undefined) return notAnAnswer('a query to NerdGraph')
  const series = new Map<string, PointSeries['points'][number][]>()
  for (const result of results) {
    const values = Object.entries(result).filter(([name]) => !NO_VALUES.includes(name))
    const [value, ...others] = values.flatMap(([name, raw]) => numbersOf(name, raw))
    if (value === undefined || others.length > 0) {
      return `the query gives ${values.length === 0 ? 'no value' : 'several values'} a step: select one`
    }
    const { facet = value.name, beginTimeSeconds } = result
    const label = String(facet)
    const points = series.get(label) ?? []
    points.push([Number(beginTimeSeconds) * MS_PER_SECOND, value.raw])
    series.set(label, points)
  }
  return { series: [...series].map(([label, points]) => ({ label, points })) }
}

/** A percentile is an object of one value: `{"95": 0.4}`. */
function numbersOf(name: string, raw: unknown): readonly { name: string; raw: unknown }[] {
  if (!isRecord(raw)) return [{ name, raw }]
  return Object.values(raw).map((value) => ({ name, raw: value }))
}
