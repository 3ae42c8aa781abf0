import { ownMember } from '../../../lib/own-member.js'
import type { CanaryQueryMembers } from '../../../canary/index.js'
import type { SeriesAggregate } from '../../sources.js'
import { buildInfluxQuery } from './influx-query.js'
import { buildPrometheusQuery, customFilterOf, isGiven } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'
import { namesSide, scopeMark } from './scope-marks.js'
import { buildStackdriverQuery } from './stackdriver-query.js'

type Build = (query: CanaryQueryMembers, filter: string | undefined) => BuiltQuery | undefined

const PLACEHOLDER = /\$\{[^{}]*\}/g
const SIGNAL_FLOW = /\bdata\s*\(/
/** What Kayenta writes of the window into NRQL, which is added to any query here. */
const NRQL_WINDOW = [
  /\s+TIMESERIES\b(?:\s+(?:MAX|AUTO|(?:\d+|\$\{step\})\s+\w+))?/i,
  /\s+SINCE\s+\$\{startEpochSeconds\}/i,
  /\s+UNTIL\s+\$\{endEpochSeconds\}/i,
]
const SIGNALFX_JOINS: Readonly<Record<string, SeriesAggregate>> = {
  ...{ mean: 'average', sum: 'sum', min: 'min', max: 'max' },
}

/**
 * How Kayenta's sources build a query from the members of theirs (`*MetricsService` and `*QueryBuilderService`), the scope left as a placeholder
 * or a mark; undefined where they say too little.
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
        problem: `has the summarization ${summarization}, and only MEAN is asked for: write align(1m, ${summarization.toLowerCase()}, …) as customInlineTemplate`,
      }
    }
    const series = `ts(${scoped(metricName, ', ', '${scope}')})`
    return text(isGiven(aggregate) ? `${aggregate}(${series})` : series)
  },
}
/** Kayenta has no form for them, or none that is known here. */
const WHOLE_ONLY: readonly string[] = ['cloudwatch', 'azure', 'web']

/** The query of a metric as Kayenta builds it for the store that `query.type` names; without a type, and for others, as for Prometheus. */
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
      problem: `says too little of what to ask ${type}: write the whole query as customInlineTemplate`,
    }
  )
}

/** The store that a query says to be of. */
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

/** A query that says nothing of the sides with what tells their instances behind it. */
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
