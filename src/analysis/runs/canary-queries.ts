import { z } from 'zod'
import { AppError } from '../../errors.js'
import { readBySchema } from '../../lib/read-by-schema.js'

const Query = z.looseObject({
  customInlineTemplate: z.string().nullish(),
  customFilterTemplate: z.string().nullish(),
  metricName: z.string().nullish(),
  labelBindings: z.array(z.string()).nullish(),
  groupByFields: z.array(z.string()).nullish(),
})

const Config = z.looseObject({
  metrics: z.array(z.looseObject({ name: z.string().min(1), query: Query.nullish() })).min(1),
  templates: z.record(z.string(), z.string()).nullish(),
})

/** In front of an inline template that is a whole query (Kayenta, Prometheus source). */
const WHOLE_QUERY = /^PromQL:\s*/

/**
 * The query of each metric of a canary config of Kayenta, by the metric's name (analysis.md 1.1): an inline template as it
 * is, else `avg(metric{filters}) by (fields)`. Raises `invalid` naming every metric without one.
 */
export function readCanaryQueries(document: unknown): ReadonlyMap<string, string> {
  const { metrics, templates } = readBySchema(Config, document, {
    name: 'the canary config',
    code: 'invalid_field',
  })
  const queries = new Map<string, string>()
  const missing: string[] = []
  for (const { name, query } of metrics) {
    const text = query === null || query === undefined ? undefined : queryText(query, templates ?? {})
    if (text === undefined) missing.push(name)
    else queries.set(name, text)
  }
  if (missing.length === 0) return queries
  throw new AppError(
    'invalid',
    `these metrics have no query: ${missing.join(', ')}: give each a query.customInlineTemplate or a query.metricName`,
    {
      details: missing.map((name) => ({
        code: 'missing_field',
        message: `metric ${name}: query is required`,
      })),
    },
  )
}

function queryText(
  {
    customInlineTemplate,
    customFilterTemplate,
    metricName,
    labelBindings,
    groupByFields,
  }: z.output<typeof Query>,
  templates: Readonly<Record<string, string>>,
): string | undefined {
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
