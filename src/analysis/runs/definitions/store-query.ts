import type { CanaryQueryMembers } from '../../judge/unknown-keys.js'
import { buildPrometheusQuery, customFilterOf } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'

type Build = (query: CanaryQueryMembers, filter: string | undefined) => string | undefined

/**
 * How Kayenta's sources build a query from the members of theirs (`*MetricsService` and `*QueryBuilderService`), the scope left as a placeholder;
 * undefined where they say too little.
 */
const BY_STORE: Readonly<Record<string, Build>> = {
  atlas: ({ q }, filter) => filter ?? said(q),
  datadog: ({ metricName }, filter) =>
    said(metricName) === undefined ? undefined : `${metricName ?? ''}{${filter ?? '${scope}'}}`,
  graphite: ({ metricName }, filter) =>
    filter ?? said(metricName)?.replaceAll('$scope', '${scope}').replaceAll('$location', '${location}'),
  newrelic: ({ select, q }, filter) => {
    if (filter !== undefined || said(select) === undefined) return filter
    return said(q) === undefined ? said(select) : `${select ?? ''} WHERE ${q ?? ''}`
  },
}
/** Their other members would put a condition of the scope into the query as it is; only a whole query can be filled safely. */
const WHOLE_ONLY: readonly string[] = ['influxdb', 'wavefront', 'signalfx', 'cloudwatch', 'web']

/** The query of a metric as Kayenta builds it for the store that `query.type` names; without a type, and for others, as for Prometheus. */
export function buildStoreQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const type = query.type ?? ''
  const build = Object.hasOwn(BY_STORE, type) ? BY_STORE[type] : undefined
  if (build === undefined && !WHOLE_ONLY.includes(type)) return buildPrometheusQuery(query, templates)
  const filter = customFilterOf(query, templates)
  if (filter !== undefined && 'problem' in filter) return filter
  const text = build === undefined ? filter?.text : build(query, filter?.text)
  if (text !== undefined) return { text }
  return { problem: `says too little of what to ask ${type}: write the whole query as customInlineTemplate` }
}

/** Kayenta writes what is left out as null or as an empty text. */
function said(text: string | null | undefined): string | undefined {
  return text === '' || text === null ? undefined : text
}
