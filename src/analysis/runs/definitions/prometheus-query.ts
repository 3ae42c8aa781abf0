import { ownMember } from '../../../lib/own-member.js'
import type { CanaryQueryMembers } from '../../../canary/index.js'
import type { SeriesAggregate } from '../../sources.js'
import { GCE_ZONE } from './scope-filters.js'

/** Prefix of a filter that is a whole query (Kayenta, Prometheus source). */
const WHOLE_QUERY = /^PromQL:\s*/
/**
 * Kayenta writes placeholders in this form to protect them from its own stage
 * (`QueryConfigUtils.unescapeTemplate`).
 */
const ESCAPED_PLACEHOLDER = '$\\{'
const DIRECTIVE = /<[#@]|#\{/

/**
 * Kayenta's filters for the instances of a scope (`PrometheusMetricsService.addScopeFilter`), as
 * placeholders. A side without a location or a scope then has no query.
 */
const SCOPE_FILTERS: Readonly<Record<string, readonly string[]>> = {
  gce_instance: ['instance=~"${scope}-.{4}"', GCE_ZONE],
  aws_ec2_instance: ['asg_groupName="${scope}"', 'zone=~"${location}.{1}"'],
}

/** A query, or what is wrong with it as the end of a sentence. */
export type BuiltQuery =
  { readonly text: string; readonly aggregate?: SeriesAggregate | undefined } | { readonly problem: string }

/**
 * The query of a metric as built by Kayenta's Prometheus source: a filter that is a whole query
 * unchanged, otherwise `avg(metric{filters}) by (fields)` with the filter of a template, or with
 * the filters of its resource type. Without both only the labels select series, which Kayenta
 * refuses.
 */
export function buildPrometheusQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const filter = customFilterOf(query, templates)
  if (filter !== undefined && 'problem' in filter) return filter
  const { metricName, labelBindings, groupByFields, resourceType } = query
  const text = filter?.text
  if (text !== undefined && WHOLE_QUERY.test(text)) return { text: text.replace(WHOLE_QUERY, '') }
  if (!metricName) {
    return text === undefined ? { problem: 'is required' } : { text }
  }
  const ofScope = text === undefined && resourceType ? ownMember(SCOPE_FILTERS, resourceType) : []
  if (ofScope === undefined) {
    return {
      problem: `has the resourceType ${resourceType ?? ''}, which has no known filter for the instances of a scope: use labelBindings or a customInlineTemplate (known: ${Object.keys(SCOPE_FILTERS).join(', ')})`,
    }
  }
  const filters = [...(text === undefined ? [] : [text]), ...(labelBindings ?? []), ...ofScope]
  return { text: averageOf(metricName, filters, groupByFields) }
}

/** The template that is the filter of a query, or the query itself. Undefined if there is none. */
export function customFilterOf(
  { customFilter, customInlineTemplate, customFilterTemplate, resourceType }: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery | undefined {
  if (customFilter !== undefined && customFilter !== null) {
    return { problem: 'has a customFilter, which Kayenta no longer reads: write it as customInlineTemplate' }
  }
  const named = customFilterTemplate ? templates[customFilterTemplate] : undefined
  if (!isGiven(customInlineTemplate) && customFilterTemplate && named === undefined) {
    const names = Object.keys(templates)
    const known = names.length === 0 ? 'there are no templates' : `there are ${names.join(', ')}`
    return {
      problem: `names the customFilterTemplate ${customFilterTemplate}, which does not exist: ${known}`,
    }
  }
  const template = isGiven(customInlineTemplate) ? customInlineTemplate : named
  if (template === undefined) return undefined
  if (DIRECTIVE.test(template)) {
    return { problem: 'has a template with directives of FreeMarker: only ${name} can be filled in' }
  }
  const text = template.replaceAll(ESCAPED_PLACEHOLDER, '${')
  return { text: resourceType ? text.replaceAll('${resourceType}', resourceType) : text }
}

/** Kayenta writes missing members as null or as an empty string. */
export function isGiven(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== ''
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
