import type { CanaryQueryMembers } from '../../judge/unknown-keys.js'
import { buildPrometheusQuery, customFilterOf, isGiven } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'
import { buildStackdriverQuery } from './stackdriver-query.js'

type Build = (query: CanaryQueryMembers, filter: string | undefined) => string | undefined

/**
 * How Kayenta's sources build a query from the members of theirs (`*MetricsService` and `*QueryBuilderService`), the scope left as a placeholder;
 * undefined where they say too little.
 */
const BY_STORE: Readonly<Record<string, Build>> = {
  atlas: ({ q }, filter) => filter ?? (isGiven(q) ? q : undefined),
  datadog: ({ metricName }, filter) =>
    isGiven(metricName) ? `${metricName}{${filter ?? '${scope}'}}` : undefined,
  graphite: ({ metricName }, filter) => {
    if (filter !== undefined || !isGiven(metricName)) return filter
    return metricName.replaceAll('$scope', '${scope}').replaceAll('$location', '${location}')
  },
  newrelic: ({ select, q }, filter) => {
    if (filter !== undefined || !isGiven(select)) return filter
    return isGiven(q) ? `${select} WHERE ${q}` : select
  },
}
/** Their other members would put a condition of the scope into the query as it is; only a whole query can be filled safely. */
const WHOLE_ONLY: readonly string[] = ['influxdb', 'wavefront', 'signalfx', 'cloudwatch', 'azure', 'web']

/** The query of a metric as Kayenta builds it for the store that `query.type` names; without a type, and for others, as for Prometheus. */
export function buildStoreQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const type = query.type ?? ''
  if (type === 'stackdriver') return buildStackdriverQuery(query, templates)
  const build = Object.hasOwn(BY_STORE, type) ? BY_STORE[type] : undefined
  if (build === undefined && !WHOLE_ONLY.includes(type)) return buildPrometheusQuery(query, templates)
  const filter = customFilterOf(query, templates)
  if (filter !== undefined && 'problem' in filter) return filter
  const text = build === undefined ? filter?.text : build(query, filter?.text)
  if (text !== undefined) return { text }
  return { problem: `says too little of what to ask ${type}: write the whole query as customInlineTemplate` }
}
