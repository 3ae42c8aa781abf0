import { ownMember } from '../../../lib/own-member.js'
import type { CanaryQueryMembers } from '../../../canary/index.js'

/** Which members the query of each metric store has, in addition to its templates. */
const BY_STORE = {
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
type Member = (typeof BY_STORE)[keyof typeof BY_STORE][number]
const MEMBERS = new Set<Member>(Object.values(BY_STORE).flat())

/** Members of a query that only other stores have, each as the end of a sentence. Kayenta writes what is left out as null or empty. */
export function foreignMembers(query: CanaryQueryMembers, type: string | undefined): readonly string[] {
  const own: readonly string[] = ownMember(BY_STORE, type ?? '') ?? BY_STORE.prometheus
  const store = type ?? 'prometheus, which a query without a type is for'
  return [...MEMBERS]
    .filter((member) => !own.includes(member) && !isEmpty(query[member]))
    .map((member) => {
      const stores = Object.entries(BY_STORE).flatMap(([name, members]) =>
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

/** A query with the metric's name filled in, as Kayenta does; or what of it can never be filled in, as the end of a sentence. */
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
    problem: `has ${[...new Set(odd)].join('; ')}: write \${name} with a name of the scope or \${metricName}; expressions of FreeMarker are not evaluated`,
  }
}

function expressionAt(text: string, index: number): string {
  const end = text.indexOf('}', index)
  return text.slice(index, Math.min(end < 0 ? text.length : end + 1, index + MAX_SHOWN))
}
