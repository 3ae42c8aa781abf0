import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { CanaryQuery } from '../../judge/unknown-keys.js'

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

/** In front of an inline template that is a whole query (Kayenta, Prometheus source). */
const WHOLE_QUERY = /^PromQL:\s*/

/** What one metric asks for: its values, and where it says so what they are counted out of. */
export interface CanaryQueries {
  readonly query: string
  readonly exposureQuery: string | undefined
}

/**
 * The queries of each metric of a canary config of Kayenta, by the metric's name (analysis.md 1.1): an inline template as it
 * is, else `avg(metric{filters}) by (fields)`. Raises `invalid` naming every metric without one.
 */
export function readCanaryQueries(document: unknown): ReadonlyMap<string, CanaryQueries> {
  const { metrics, templates } = readBySchema(Config, document, {
    name: 'the canary config',
    code: 'invalid_field',
  })
  const queries = new Map<string, CanaryQueries>()
  const missing: { readonly name: string; readonly member: string }[] = []
  for (const { name, query: asked, exposureQuery: askedExposure } of metrics) {
    const query = queryText(asked, templates ?? {})
    const exposureQuery = queryText(askedExposure, templates ?? {})
    if (query === undefined) missing.push({ name, member: 'query' })
    if (askedExposure && exposureQuery === undefined) missing.push({ name, member: 'exposureQuery' })
    if (query !== undefined) queries.set(name, { query, exposureQuery })
  }
  if (missing.length === 0) return queries
  const names = [...new Set(missing.map(({ name }) => name))].join(', ')
  throw new AppError(
    'invalid',
    `these metrics have no query: ${names}: give each a query.customInlineTemplate or a query.metricName`,
    {
      details: missing.map(({ name, member }) => ({
        code: 'missing_field',
        message: `metric ${name}: ${member} is required`,
      })),
    },
  )
}

function queryText(
  query: z.output<typeof CanaryQuery> | null | undefined,
  templates: Readonly<Record<string, string>>,
): string | undefined {
  const { customInlineTemplate, customFilterTemplate, metricName, labelBindings, groupByFields } = query ?? {}
  if (customInlineTemplate) {
    // Kayenta takes what follows as the filters of the metric, unless the mark says that it is the query itself.
    if (WHOLE_QUERY.test(customInlineTemplate)) return customInlineTemplate.replace(WHOLE_QUERY, '')
    return metricName ? averageOf(metricName, [customInlineTemplate], groupByFields) : customInlineTemplate
  }
  if (!metricName) return undefined
  const named = customFilterTemplate ? templates[customFilterTemplate] : undefined
  if (named !== undefined && WHOLE_QUERY.test(named)) return named.replace(WHOLE_QUERY, '')
  return averageOf(
    metricName,
    [...(labelBindings ?? []), ...(named === undefined ? [] : [named])],
    groupByFields,
  )
}

function averageOf(
  metricName: string,
  filters: readonly string[],
  groupByFields: readonly string[] | null | undefined,
): string {
  const selector = filters
    .map((filter) => filter.trim().replace(/^\{|\}$/g, ''))
    .filter((filter) => filter !== '')
  const braces = selector.length === 0 ? '' : `{${selector.join(',')}}`
  const by = groupByFields && groupByFields.length > 0 ? ` by (${groupByFields.join(', ')})` : ''
  return `avg(${metricName}${braces})${by}`
}
