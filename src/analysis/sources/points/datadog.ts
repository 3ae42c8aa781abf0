import { z } from 'zod'

import { fillWords } from '../templates/fill-words.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
/** Tags: without commas and braces, which would begin another one. */
const TAGS = { allows: 'letters, digits, "_", ".", ":", "/" and "-"', pattern: /^[\w.:/-]+$/ }
/** All between the commas of `{…}`: one tag or several, as a scope of Kayenta may be. */
const TAG_LIST = {
  allows: 'tags such as version:v1, with commas between them',
  pattern: /^[\w.:/-]+$|^[\w./-]+:[\w.:/-]+(?:,[\w./-]+:[\w.:/-]+)+$/,
  place: /(?<=[{,])\$\{[^{}]*\}(?=[,}])/g,
}

const Answer = z.object({
  status: z.string().optional(),
  error: z.string().nullish(),
  message: z.string().nullish(),
  series: z
    .array(
      z.object({
        metric: z.string().optional(),
        scope: z.string().optional(),
        pointlist: z.array(z.tuple([z.number(), z.unknown()])),
      }),
    )
    .optional(),
})

/**
 * Datadog's query API, version 1: `{status, series: [{metric, scope, pointlist: [[ms, value]]}]}`.
 */
export const datadogApi: PointsApi = {
  fill: (template, scope) => fillWords(template, scope, TAGS, TAG_LIST),
  request: (query, grid) => ({
    method: 'GET',
    path: '/api/v1/query',
    search: {
      query,
      from: String(Math.floor(grid.startMs / MS_PER_SECOND)),
      to: String(Math.ceil(endMs(grid) / MS_PER_SECOND) - 1),
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) return notAnAnswer('a query to Datadog')
    const { status, error, series = [] } = answer.data
    // An invalid query gets a response of 200.
    const isRefused = status === 'error' || (error ?? '') !== ''
    if (isRefused) return `the query was refused: ${error ?? 'no reason is given'}`
    const named = series.map(({ metric = '', scope = '', pointlist }) => ({
      label: `${metric}{${scope}}`,
      points: pointlist,
    }))
    return { series: named }
  },
  // Longer stretches are rolled up to fewer, wider steps.
  pointsPerRequest: 240,
}
