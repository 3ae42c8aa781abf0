import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import type { ErrorDetail } from '../../../errors/app-error.js'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { CanaryQuery, type CanaryQueryMembers } from '../../../canary/index.js'
import type { SeriesAggregate } from '../../sources.js'
import type { BuiltQuery } from './prometheus-query.js'
import { foreignMembers, withMetricName } from './query-members.js'
import { buildStoreQuery, storeOf } from './store-query.js'

const Config = z.looseObject({
  metrics: z
    .array(
      z.looseObject({
        name: z.string().min(1),
        query: CanaryQuery.nullish(),
        exposureQuery: CanaryQuery.nullish(),
      }),
    )
    .min(1),
  templates: z.record(z.string(), z.string()).nullish(),
})

type Built = Extract<BuiltQuery, { readonly text: string }>

/** What one metric asks for: its values, and where it says so what they are counted out of. */
export interface CanaryQueries {
  readonly query: string
  readonly exposureQuery: string | undefined
  /** How several series of it are joined, where the config says so. */
  readonly aggregate?: SeriesAggregate | undefined
}

/** The queries of a canary config, and of which stores of metrics they say to be. */
export interface AskedQueries {
  readonly byMetric: ReadonlyMap<string, CanaryQueries>
  /** Each `query.type`, once. */
  readonly types: readonly string[]
}

/** The queries of each metric of a canary config of Kayenta, by the metric's name (analysis.md 1.1). Raises `invalid` naming all that cannot be asked. */
export function readCanaryQueries(document: unknown): AskedQueries {
  const { metrics, templates } = readBySchema(Config, document, {
    name: 'the canary config',
    code: 'invalid_field',
  })
  const byMetric = new Map<string, CanaryQueries>()
  const problems: ErrorDetail[] = []
  const build = (name: string, member: string, asked: CanaryQueryMembers | null | undefined): Built => {
    const query = asked ?? {}
    const refuse = (problem: string): void =>
      void problems.push({ code: 'invalid_query', message: `metric ${name}: ${member} ${problem}` })
    foreignMembers(query, storeOf(query)).forEach(refuse)
    const built = buildStoreQuery(query, templates ?? {})
    const named = 'text' in built ? withMetricName(built.text, query.metricName) : built
    if ('text' in named) return { ...built, ...named }
    refuse(named.problem)
    return { text: '' }
  }
  for (const { name, query, exposureQuery } of metrics) {
    const { text, aggregate } = build(name, 'query', query)
    byMetric.set(name, {
      query: text,
      exposureQuery: exposureQuery ? build(name, 'exposureQuery', exposureQuery).text : undefined,
      ...(aggregate !== undefined && { aggregate }),
    })
  }
  if (problems.length > 0) {
    throw new AppError(
      'invalid',
      `these queries cannot be asked: ${problems.map(({ message }) => message).join('; ')}`,
      {
        details: problems,
      },
    )
  }
  const asked = metrics.flatMap(({ query, exposureQuery }) => [
    storeOf(query ?? {}),
    storeOf(exposureQuery ?? {}),
  ])
  return { byMetric, types: [...new Set(asked.filter((type) => type !== undefined))] }
}
