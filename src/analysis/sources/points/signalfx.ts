import { z } from 'zod'

import { fillSearchText } from '../templates/fill-search-text.js'
import { Filling } from '../templates/filling.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

/** The resolutions that it keeps, in ms. */
const RESOLUTIONS = [3_600_000, 300_000, 60_000, 1000]

const Answer = z.object({
  data: z.record(z.string(), z.array(z.tuple([z.number(), z.unknown()]))),
  errors: z.array(z.unknown()).nullish(),
})

/**
 * SignalFx's time series of a search, `sf_metric:latency AND app:shop`: `{data: {id: [[ms,
 * value]]}, errors}`.
 */
export const signalFxApi: PointsApi = {
  fill: (template, scope) => {
    const filling = new Filling(scope)
    return filling.finish(fillSearchText(template, filling))
  },
  request: (query, grid) => ({
    method: 'GET',
    path: '/v1/timeserieswindow',
    search: {
      ...{ query, startMS: String(grid.startMs), endMS: String(endMs(grid) - 1) },
      resolution: String(RESOLUTIONS.find((ms) => ms <= grid.stepMs) ?? RESOLUTIONS.at(-1)),
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) return notAnAnswer('a query to SignalFx')
    const { data, errors } = answer.data
    const series = Object.entries(data).map(([label, points]) => ({ label, points }))
    return { series, gaps: (errors ?? []).map((error) => `the server warns: ${JSON.stringify(error)}`) }
  },
  pointsPerRequest: 10_000,
}
