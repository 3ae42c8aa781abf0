import { z } from 'zod'

import { fillWords } from '../templates/fill-words.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

const MS_PER_SECOND = 1000
/** Names of series are parts of paths and of functions' arguments. */
const PATH_PARTS = { allows: 'letters, digits, "_", ".", ":" and "-"', pattern: /^[\w.:-]+$/ }

const Answer = z.array(
  z.object({
    target: z.string(),
    datapoints: z.array(z.tuple([z.unknown(), z.number()])),
  }),
)

/** Graphite's render API, format=json: `[{target, datapoints: [[value, seconds]]}]`. */
export const graphiteApi: PointsApi = {
  fill: (template, scope) => fillWords(template, scope, PATH_PARTS),
  request: (target, grid) => ({
    method: 'GET',
    path: '/render',
    // Values after `from` are given, up to `until` with it.
    search: {
      ...{ target, format: 'json' },
      from: String(Math.floor(grid.startMs / MS_PER_SECOND) - 1),
      until: String(Math.ceil(endMs(grid) / MS_PER_SECOND) - 1),
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) return notAnAnswer('Graphite (format=json)')
    const series = answer.data.map(({ target, datapoints }) => ({
      label: target,
      points: datapoints.map(([value, seconds]) => [seconds * MS_PER_SECOND, value] as const),
    }))
    return { series }
  },
  pointsPerRequest: 50_000,
}
