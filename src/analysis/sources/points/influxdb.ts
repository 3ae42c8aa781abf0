import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import type { StepGrid } from '../answers/step-grid.js'
import type { EscapeContext } from '../templates/filling.js'
import { escapedIn, fillSqlText } from '../templates/fill-sql-text.js'
import { WORD } from '../templates/escape-contexts.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

export interface InfluxSettings {
  readonly database: string
  readonly retentionPolicy?: string | undefined
}

/** Variables of the window in a query, as in dashboards of Grafana. */
const WINDOW = '$timeFilter'
const STEP = '$__interval'

/**
 * A scope of Kayenta is a tag with its value, `cluster:shop-v2`, which becomes a condition outside
 * of quotes.
 */
const CONDITION: EscapeContext = {
  allows: `a tag with its value, such as cluster:shop-v2, or ${WORD.allows}`,
  escape: (value) => {
    const [, tag, text] = /^([A-Za-z_][\w.-]*):([^:]+)$/.exec(value) ?? []
    const escaped = text === undefined ? undefined : escapedIn("'").escape(text)
    return escaped === undefined ? WORD.escape(value) : `"${tag ?? ''}"='${escaped}'`
  },
}

const Answer = z.object({
  results: z.array(
    z.object({
      error: z.string().optional(),
      partial: z.boolean().optional(),
      messages: z.array(z.object({ text: z.string() })).optional(),
      series: z
        .array(
          z.object({
            name: z.string().optional(),
            tags: z.record(z.string(), z.string()).optional(),
            columns: z.array(z.string()),
            values: z.array(z.array(z.unknown())).optional(),
            partial: z.boolean().optional(),
          }),
        )
        .optional(),
    }),
  ),
})
type Series = NonNullable<z.output<typeof Answer>['results'][number]['series']>[number]

/**
 * InfluxQL over `/query`, of InfluxDB 1 and of the compatible API of 2: `{results: [{series:
 * [{columns, values}]}]}`.
 */
export function makeInfluxApi({ database, retentionPolicy }: InfluxSettings): PointsApi {
  return {
    fill: (template, scope) => {
      const text = fillSqlText(template, scope, {
        ...{ string: escapedIn("'"), name: escapedIn('"'), bare: CONDITION },
      })
      if (text.includes(WINDOW)) return text
      throw new AppError('invalid', `the query has no ${WINDOW}: write it into its WHERE clause`, {
        code: 'invalid_query',
      })
    },
    withWindow,
    request: (text, grid) => ({
      method: 'GET',
      path: '/query',
      search: {
        ...{ db: database, epoch: 'ms' },
        ...(retentionPolicy !== undefined && { rp: retentionPolicy }),
        q: withWindow(text, grid),
      },
    }),
    read: readResults,
    pointsPerRequest: 10_000,
  }
}

function withWindow(text: string, grid: StepGrid): string {
  return text
    .replaceAll(WINDOW, `(time >= ${grid.startMs}ms AND time < ${endMs(grid)}ms)`)
    .replaceAll(STEP, `${grid.stepMs}ms`)
}

function readResults(json: unknown): ReturnType<PointsApi['read']> {
  const answer = Answer.safeParse(json)
  if (!answer.success) return notAnAnswer('a query to InfluxDB')
  const [result, ...others] = answer.data.results
  if (result === undefined || others.length > 0) return 'the query must be one statement'
  if (result.error !== undefined) return `the query was refused: ${result.error}`
  const { series = [], messages = [] } = result
  const wide = series.find(({ columns }) => columns.length > 2)
  if (wide !== undefined) return `the query gives the columns ${wide.columns.slice(1).join(', ')}: select one`
  const isPartial = result.partial === true || series.some(({ partial }) => partial === true)
  return {
    series: series.map((one) => ({ label: labelOf(one), points: (one.values ?? []).map(toPoint) })),
    gaps: isPartial ? ['the answer is a part only: the server has a limit on rows (max-row-limit)'] : [],
    warnings: messages.map(({ text }) => text),
  }
}

function labelOf({ name = '', tags = {} }: Series): string {
  return `${name}{${Object.entries(tags)
    .map((tag) => tag.join('='))
    .join(', ')}}`
}

function toPoint([atMs, value]: readonly unknown[]): readonly [number, unknown] {
  return [typeof atMs === 'number' ? atMs : Number.NaN, value ?? null]
}
