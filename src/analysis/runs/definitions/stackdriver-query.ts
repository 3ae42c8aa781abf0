import { ownMember } from '../../../lib/own-member.js'
import type { CanaryQueryMembers } from '../../../canary/index.js'
import { customFilterOf, isGiven } from './prometheus-query.js'
import type { BuiltQuery } from './prometheus-query.js'
import { OF_PROJECT, scopeMark } from './scope-marks.js'

/**
 * The filters by which Kayenta tells the instances of a scope (`StackdriverMetricsService.buildQuery`), as placeholders. Of the resources of
 * Kubernetes it filters by whatever parameters a scope has.
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
 * The query of a metric as Kayenta's source of Stackdriver builds it: the type of the metric and of the resource, and the filter of a template
 * or those that the type of the resource adds; aligned and reduced as the config says. A template without a type of metric is the whole query, which
 * Kayenta refuses.
 */
export function buildStackdriverQuery(
  query: CanaryQueryMembers,
  templates: Readonly<Record<string, string>>,
): BuiltQuery {
  const custom = customFilterOf(query, templates)
  if (custom !== undefined && 'problem' in custom) return custom
  const { metricType, resourceType, crossSeriesReducer, perSeriesAligner, groupByFields } = query
  if (!isGiven(metricType)) {
    return custom ?? { problem: 'says no metricType, which stackdriver is asked for' }
  }
  if (!isGiven(resourceType))
    return { problem: 'says no resourceType, such as gce_instance or k8s_container' }
  const ofScope = custom === undefined ? ownMember(SCOPE_FILTERS, resourceType) : ` AND ${custom.text}`
  if (ofScope === undefined) {
    return {
      problem: `has the resourceType ${resourceType}, of which the instances of a scope cannot be told: write them as customInlineTemplate, such as resource.labels.pod_name=starts_with("\${scope}") (known: ${Object.keys(SCOPE_FILTERS).join(', ')})`,
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
