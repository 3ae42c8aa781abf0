import { z } from 'zod'

import { fillWords } from '../templates/fill-words.js'
import type { PointsApi } from './points-api.js'
import { endMs, notAnAnswer } from './points-api.js'

/**
 * Words of its stack language: without commas, which would end the word, and colons, which would
 * begin an operator.
 */
const WORDS = { allows: 'letters, digits, "_", ".", "^", "~" and "-"', pattern: /^[\w.^~-]+$/ }
/**
 * A whole query, as in a scope of the type `query` in Kayenta: words and operators between
 * conditions.
 */
const CONDITION = {
  allows: 'a condition such as nf.app,shop,:eq,nf.stack,main,:eq,:and',
  pattern:
    /^[\w.^~-]+(?:,(?:[\w.^~-]+|:(?:eq|lt|le|gt|ge|re|reic|has|and|or|not)))*,:(?:eq|lt|le|gt|ge|re|reic|has|and|or|not)$/,
  place: /(?<=:list,\(,)\$\{[^{}]*\}(?=,:cq,\),:each)/g,
}

const Answer = z.object({
  start: z.number(),
  step: z.number().positive(),
  legend: z.array(z.string()),
  values: z.array(z.array(z.unknown())),
  notices: z.array(z.string()).nullish(),
})
const Refusal = z.object({ type: z.string(), message: z.string() })

/**
 * Atlas's graph API in std.json: `{start, step, legend, values: [[value of each series] of each
 * step]}`, with NaN as a string.
 */
export const atlasApi: PointsApi = {
  fill: (template, scope) => fillWords(template, scope, WORDS, CONDITION),
  request: (query, grid) => ({
    method: 'GET',
    path: '/api/v1/graph',
    search: {
      ...{ q: query, format: 'std.json' },
      ...{ s: String(grid.startMs), e: String(endMs(grid)), step: `${grid.stepMs / 1000}s` },
    },
  }),
  read: (json) => {
    const answer = Answer.safeParse(json)
    if (!answer.success) {
      const refusal = Refusal.safeParse(json)
      return refusal.success
        ? `the query was refused: ${refusal.data.message}`
        : notAnAnswer('a graph of Atlas')
    }
    const { start, step, legend, values, notices } = answer.data
    const series = legend.map((label, at) => ({
      label,
      points: values.map((row, index) => [start + index * step, row[at]] as const),
    }))
    return { series, warnings: notices ?? [] }
  },
  pointsPerRequest: 1440,
}
