import { ownMember } from '../../../lib/own-member.js'
import type { CanaryQueryMembers } from '../../../canary/index.js'
import type { SeriesAggregate } from '../../sources.js'
import { buildPrometheusQuery, customFilterOf, isGiven } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'
import { namesSide, scopeMark, OF_PROJECT } from './scope-filters.js'
import { isRecord } from '../../../lib/validation/record.js'

type Build = (query: CanaryQueryMembers, filter: string | undefined) => BuiltQuery | undefined

const PLACEHOLDER = /\$\{[^{}]*\}/g
const SIGNAL_FLOW = /\bdata\s*\(/
/** Kayenta's clauses for the window in NRQL. They are added to every query here. */
const NRQL_WINDOW = [
  /\s+TIMESERIES\b(?:\s+(?:MAX|AUTO|(?:\d+|\$\{step\})\s+\w+))?/i,
  /\s+SINCE\s+\$\{startEpochSeconds\}/i,
  /\s+UNTIL\s+\$\{endEpochSeconds\}/i,
]
const SIGNALFX_JOINS: Readonly<Record<string, SeriesAggregate>> = {
  ...{ mean: 'average', sum: 'sum', min: 'min', max: 'max' },
}

/**
 * Builders of queries from the members of each store, as Kayenta's sources do (`*MetricsService`
 * and `*QueryBuilderService`), with the scope as a placeholder or a mark. Undefined if members are
 * missing.
 */
const BY_STORE: Readonly<Record<string, Build>> = {
  atlas: ({ q }, filter) => text(filter ?? (isGiven(q) ? scoped(q, '', scopeMark('atlas')) : undefined)),
  datadog: ({ metricName }, filter) => {
    // A template is the whole query, or as before the tags of one.
    if (filter?.replace(PLACEHOLDER, '').includes('{')) return text(filter)
    return text(isGiven(metricName) ? `${metricName}{${filter ?? '${scope}'}}` : undefined)
  },
  graphite: ({ metricName }, filter) => {
    if (filter !== undefined || !isGiven(metricName)) return text(filter)
    return text(metricName.replaceAll('$scope', '${scope}').replaceAll('$location', '${location}'))
  },
  influxdb: buildInfluxQuery,
  newrelic: ({ select, q }, filter) => {
    if (filter !== undefined) return text(NRQL_WINDOW.reduce((rest, part) => rest.replace(part, ''), filter))
    if (!isGiven(select)) return undefined
    const selected = /^\s*SELECT\b/i.test(select) ? select : `SELECT ${select.trim()}`
    const condition = scoped(isGiven(q) ? q : '', ' AND ', scopeMark('newrelic'))
    return text(namesSide(select) && !isGiven(q) ? selected : `${selected} WHERE ${condition}`)
  },
  signalfx: buildSignalFxQuery,
  wavefront: ({ metricName, aggregate, summarization }, filter) => {
    if (filter !== undefined || !isGiven(metricName)) return text(filter)
    if (isGiven(summarization) && summarization !== 'MEAN') {
      return {
        problem: `has the summarization ${summarization}, and only MEAN is supported: write align(1m, ${summarization.toLowerCase()}, …) as customInlineTemplate`,
      }
    }
    const series = `ts(${scoped(metricName, ', ', '${scope}')})`
    return text(isGiven(aggregate) ? `${aggregate}(${series})` : series)
  },
}
/** Stores without a form in Kayenta, or without a known one. */
const WHOLE_ONLY: readonly string[] = ['cloudwatch', 'azure', 'web']

/**
 * The query of a metric as Kayenta builds it for the store in `query.type`. Without a type, and for
 * other types, as for Prometheus.
 */
export function buildStoreQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const type = storeOf(query) ?? ''
  if (type === 'stackdriver') return buildStackdriverQuery(query, templates)
  const build = ownMember(BY_STORE, type)
  if (build === undefined && !WHOLE_ONLY.includes(type)) return buildPrometheusQuery(query, templates)
  const filter = customFilterOf(query, templates)
  if (filter !== undefined && 'problem' in filter) return filter
  const built = build === undefined ? filter : build(query, filter?.text)
  return (
    built ?? {
      problem: `lacks members for a query of ${type}: write the whole query as customInlineTemplate`,
    }
  )
}

/** The store that a query names. */
export function storeOf({ type, serviceType }: CanaryQueryMembers): string | undefined {
  return [type, serviceType].find(isGiven)
}

function buildSignalFxQuery(query: CanaryQueryMembers, filter: string | undefined): BuiltQuery | undefined {
  if (filter !== undefined && SIGNAL_FLOW.test(filter)) {
    return {
      problem:
        'has a program in SignalFlow, which is not run: give metricName and queryPairs, or a search for time series as customInlineTemplate',
    }
  }
  const { metricName, queryPairs, aggregationMethod } = query
  if (filter !== undefined || !isGiven(metricName)) return text(filter)
  const method = isGiven(aggregationMethod) ? aggregationMethod : 'mean'
  const aggregate = ownMember(SIGNALFX_JOINS, method)
  if (aggregate === undefined) {
    return {
      problem: `has the aggregationMethod ${method}: series are joined by ${Object.keys(SIGNALFX_JOINS).join(', ')}`,
    }
  }
  const pairs = (queryPairs ?? []).map(({ key, value }) => `${key}:${phrase(value)}`)
  const search = [`sf_metric:${phrase(metricName)}`, ...pairs].join(' AND ')
  return { text: scoped(search, ' AND ', scopeMark('signalfx')), aggregate }
}

/** Adds a condition for the instances to a query that does not distinguish the sides. */
function scoped(query: string, between: string, more: string): string {
  if (namesSide(query)) return query
  return query === '' ? more : `${query}${between}${more}`
}

function phrase(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`
}

function text(query: string | undefined): BuiltQuery | undefined {
  return query === undefined ? undefined : { text: query }
}

/** Which members the query of each metric store has, in addition to its templates. */
const MEMBERS_BY_STORE = {
  prometheus: ['metricName', 'labelBindings', 'groupByFields'],
  stackdriver: ['metricType', 'crossSeriesReducer', 'perSeriesAligner', 'groupByFields'],
  atlas: ['q'],
  datadog: ['metricName'],
  graphite: ['metricName'],
  influxdb: ['metricName', 'fields', 'tags', 'groupByFields'],
  newrelic: ['select', 'q'],
  signalfx: ['metricName', 'queryPairs', 'aggregationMethod'],
  wavefront: ['metricName', 'aggregate', 'summarization'],
  // Their query is a template, which may have the name of the metric filled in.
  ...{ cloudwatch: ['metricName'], azure: ['metricName'], web: ['metricName'] },
} as const satisfies Readonly<Record<string, readonly (keyof CanaryQueryMembers)[]>>
type Member = (typeof MEMBERS_BY_STORE)[keyof typeof MEMBERS_BY_STORE][number]
const MEMBERS = new Set<Member>(Object.values(MEMBERS_BY_STORE).flat())

/**
 * Problems of members that only queries of other stores have, each as the end of a sentence.
 * Kayenta writes missing members as null or empty.
 */
export function foreignMembers(query: CanaryQueryMembers, type: string | undefined): readonly string[] {
  const own: readonly string[] = ownMember(MEMBERS_BY_STORE, type ?? '') ?? MEMBERS_BY_STORE.prometheus
  const store = type ?? 'prometheus, which a query without a type is for'
  return [...MEMBERS]
    .filter((member) => !own.includes(member) && !isEmpty(query[member]))
    .map((member) => {
      const stores = Object.entries(MEMBERS_BY_STORE).flatMap(([name, members]) =>
        members.some((each) => each === member) ? [name] : [],
      )
      return `has ${member} of ${stores.join(', ')}, which does nothing for ${store}: leave it out, or correct type`
    })
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

const EXPRESSION = /\$\{(?:([^{}]*)\})?/g
/** A value of the scope, a group of a regular expression, or a mark of `scopeMark`. */
const FILLED = /^(?:[A-Za-z_][\w./-]*|\d+|\?\w+)$/
const MAX_SHOWN = 60

/**
 * A query with the metric's name filled in, as Kayenta does; or a part that can never be filled in,
 * as the end of a sentence.
 */
export function withMetricName(
  text: string,
  metricName: string | null | undefined,
): { readonly text: string } | { readonly problem: string } {
  const odd = [...text.matchAll(EXPRESSION)].flatMap(({ 1: name, index }) => {
    if (name === 'metricName' && !metricName) return ['${metricName}, and no metricName']
    return name !== undefined && FILLED.test(name) ? [] : [expressionAt(text, index)]
  })
  if (odd.length === 0) return { text: text.replaceAll('${metricName}', () => metricName ?? '') }
  return {
    problem: `has ${[...new Set(odd)].join('; ')}: write \${name} with a name of the scope or \${metricName}; FreeMarker expressions are not evaluated`,
  }
}

const CLOSED_EXPRESSION = /\$\{([^{}]*)\}/g

/**
 * Parts of a query that are no names of the scope, so that no run could fill them, as the end of a
 * sentence. Undefined if there are none. `${` without an end is text.
 */
export function oddPlaceholders(text: string): string | undefined {
  const odd = [...text.matchAll(CLOSED_EXPRESSION)].flatMap(([whole, name = '']) =>
    FILLED.test(name) && !name.startsWith('?') ? [] : [whole.slice(0, MAX_SHOWN)],
  )
  if (odd.length === 0) return undefined
  return `has ${[...new Set(odd)].join('; ')}: write \${name} with a name of the scope; FreeMarker expressions are not evaluated`
}

function expressionAt(text: string, index: number): string {
  const end = text.indexOf('}', index)
  return text.slice(index, Math.min(end < 0 ? text.length : end + 1, index + MAX_SHOWN))
}

/**
 * Kayenta's filters for the instances of a scope (`StackdriverMetricsService.buildQuery`), as
 * placeholders. Resources of Kubernetes are filtered by all parameters of a scope.
 */
const SCOPE_FILTERS: Readonly<Record<string, string>> = {
  gce_instance: `${OF_PROJECT} AND metadata.user_labels."spinnaker-region"="\${location}" AND metadata.user_labels."spinnaker-server-group"="\${scope}"`,
  aws_ec2_instance:
    ' AND resource.labels.region="aws:${location}" AND metadata.user_labels."aws:autoscaling:groupname"="${scope}"',
  gae_app: `${OF_PROJECT} AND resource.labels.version_id="\${scope}"`,
  global: '',
  ...Object.fromEntries(
    ['k8s_container', 'k8s_pod', 'k8s_node', 'gke_container'].map((type) => [
      type,
      OF_PROJECT + scopeMark('kubernetes'),
    ]),
  ),
}

/**
 * The query of a metric as built by Kayenta's Stackdriver source: the types of the metric and of
 * the resource, and the filter of a template or of the resource type, aligned and reduced as
 * configured. A template without a type of metric is the whole query, which Kayenta refuses.
 */
function buildStackdriverQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const custom = customFilterOf(query, templates)
  if (custom !== undefined && 'problem' in custom) return custom
  const { metricType, resourceType, crossSeriesReducer, perSeriesAligner, groupByFields } = query
  if (!isGiven(metricType)) {
    return custom ?? { problem: 'has no metricType, which stackdriver needs' }
  }
  if (!isGiven(resourceType)) return { problem: 'has no resourceType, such as gce_instance or k8s_container' }
  const ofScope = custom === undefined ? ownMember(SCOPE_FILTERS, resourceType) : ` AND ${custom.text}`
  if (ofScope === undefined) {
    return {
      problem: `has the resourceType ${resourceType}, which has no known filter for the instances of a scope: write one as customInlineTemplate, such as resource.labels.pod_name=starts_with("\${scope}") (known: ${Object.keys(SCOPE_FILTERS).join(', ')})`,
    }
  }
  return {
    text: JSON.stringify({
      filter: `metric.type=${quoted(metricType)} AND resource.type=${quoted(resourceType)}${ofScope}`,
      ...(isGiven(perSeriesAligner) && { perSeriesAligner }),
      ...(isGiven(crossSeriesReducer) && { crossSeriesReducer }),
      ...(groupByFields && groupByFields.length > 0 && { groupByFields }),
    }),
  }
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/**
 * InfluxQL as `InfluxDbQueryBuilder` builds it, with the window and the scope (`name:value`, which
 * becomes a condition) as placeholders. Undefined if no field is named.
 */
function buildInfluxQuery(
  { metricName, fields, tags, groupByFields }: CanaryQueryMembers,
  template: string | undefined,
): BuiltQuery | undefined {
  if (template !== undefined) {
    const named = template.replaceAll('${timeFilter}', '$timeFilter').replaceAll('${step}', '$__interval')
    return { text: named }
  }
  if (!isGiven(metricName)) return undefined
  const [field, ...others] = fields ?? []
  if (field === undefined || others.length > 0) {
    return {
      problem: `names ${others.length + (field === undefined ? 0 : 1)} fields: name the one to judge`,
    }
  }
  const ofTags = Object.entries(isRecord(tags) ? tags : {}).map(
    ([name, value]) => ` AND "${name}"='${String(value).replace(/[\\']/g, '\\$&')}'`,
  )
  const by = groupByFields && groupByFields.length > 0 ? ` GROUP BY ${groupByFields.join(', ')}` : ''
  return {
    text: `SELECT ${field} FROM ${metricName} WHERE $timeFilter AND \${scope}${ofTags.join('')}${by}`,
  }
}
