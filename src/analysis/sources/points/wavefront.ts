import { z } from 'zod'

import { fillWords } from '../templates/fill-words.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
const MS_PER_MINUTE = 60_000
const TAGS = { allows: 'letters, digits, "_", ".", "/" and "-"', pattern: /^[\w./-]+$/ }
/** A whole argument of `ts()`: conditions, as a scope of Kayenta is. */
const CONDITIONS = {
  allows: 'conditions such as app="shop" and version="v1"',
  pattern: /^[\w.~-]+ *= *(?:"[\w./ :-]+"|[\w./-]+)(?: +and +[\w.~-]+ *= *(?:"[\w./ :-]+"|[\w./-]+))*$/i,
  place: /(?<=, ?)\$\{[^{}]*\}(?=\))/g,
}

const Answer = z.object({
  errorType: z.string().nullish(),
  errorMessage: z.string().nullish(),
  warnings: z.string().nullish(),
  timeseries: z
    .array(
      z.object({
        label: z.string().optional(),
        host: z.string().optional(),
        tags: z.record(z.string(), z.string()).nullish(),
        data: z.array(z.tuple([z.number(), z.unknown()])),
      }),
    )
    .nullish(),
})

/** Wavefront's chart API: `{timeseries: [{label, host, tags, data: [[seconds, value]]}]}`. */
export const wavefrontApi: PointsApi = {
  fill: (template, scope) => fillWords(template, scope, TAGS, CONDITIONS),
  request: (query, grid) => ({
    method: 'GET',
    path: '/api/v2/chart/api',
    // `strict`: nothing from beyond the window.
    search: {
      ...{ q: query, strict: 'true', sorted: 'true', autoEvents: 'false' },
      g: grid.stepMs < MS_PER_MINUTE ? 's' : 'm',
      s: String(grid.startMs),
      e: String(endMs(grid) - 1),
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) return notAnAnswer('a query to Wavefront')
    const { errorType, errorMessage, warnings, timeseries } = answer.data
    if (errorType) return `the query was refused: ${errorType}: ${errorMessage ?? ''}`
    const series = (timeseries ?? []).map(({ label = '', host = '', tags, data }) => ({
      label: `${label}{${[`source=${host}`, ...Object.entries(tags ?? {}).map((tag) => tag.join('='))].join(', ')}}`,
      points: data.map(([seconds, value]) => [seconds * MS_PER_SECOND, value] as const),
    }))
    return { series, warnings: warnings ? [warnings] : [] }
  },
  pointsPerRequest: 10_000,
}
