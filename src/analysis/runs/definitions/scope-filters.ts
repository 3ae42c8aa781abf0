import { ownMember } from '../../../lib/own-member.js'
import { AppError } from '../../../errors/app-error.js'
import type { Scope } from '../../sources.js'

/** The scopes of both sides, which have one query. */
interface Scopes {
  readonly baseline: Scope
  readonly canary: Scope
}

/**
 * What Kayenta adds to a query of a store for the scopes of a run, or why nothing can be: the end
 * of a sentence.
 */
type Filter = (scopes: Scopes, query: string) => { readonly text: string } | { readonly problem: string }

const MARK = /\$\{\?(\w+)\}/g
/** Condition for the project of a scope. Without one, the source's own project is used. */
export const OF_PROJECT = ' AND project="${project}"'

/** The condition within JSON. */
const OF_PROJECT_IN_JSON = inJson(OF_PROJECT)
/** Variables that are no attribute of instances. */
const NO_ATTRIBUTES = ['application', 'service', 'scope', 'location', 'project', 'resourceType', 'type']
/** Labels of resources of Kubernetes in Google Cloud Monitoring, the old ones too. */
const KUBERNETES_LABELS =
  /^(?:location|zone|(?:cluster|node|pod|container|namespace)_name|(?:namespace|instance|pod)_id)$/
const USER_LABEL = 'user_labels.'
const ATLAS_KEYS: Readonly<Record<string, string>> = {
  ...{ asg: 'nf.asg,${scope},:eq', cluster: 'nf.cluster,${scope},:eq', application: 'nf.app,${scope},:eq' },
  query: '${scope}',
}

const FILTERS: Readonly<Record<string, Filter>> = {
  /** `AtlasCanaryScope.cq`. */
  atlas: ({ baseline, canary }) => {
    const type = canary['type'] ?? ''
    const condition = ownMember(ATLAS_KEYS, type)
    if (condition === undefined || baseline['type'] !== canary['type']) {
      return {
        problem:
          'is the same for all instances: set type in both scopes (asg, cluster or query), or write ${scope} into q',
      }
    }
    return { text: `,:list,(,${condition},:cq,),:each` }
  },
  /** `NewRelicQueryBuilderService.buildQueryFromSelectAndQ`. */
  newrelic: ofAttributes((name, value) => `\`${name}\` LIKE '${value}'`, 'or write ${scope} into q'),
  /** `SimpleSignalFlowProgramBuilder`, as a search for time series. */
  signalfx: ofAttributes(
    (name, value) => `${name}:"${value}"`,
    'or write the search as customInlineTemplate',
  ),
  /** `StackdriverMetricsService.buildQuery`. */
  kubernetes: (scopes) => {
    const filters = namesOf(scopes).flatMap((name) => {
      if (KUBERNETES_LABELS.test(name)) return [` AND resource.labels.${name}="\${${name}}"`]
      if (!name.startsWith(USER_LABEL)) return []
      return [` AND metadata.user_labels."${name.slice(USER_LABEL.length)}"="\${${name}}"`]
    })
    if (filters.length > 0) return { text: inJson(filters.join('')) }
    return {
      problem:
        'is the same for all instances: name labels in the scopes that distinguish them (pod_name, container_name, …, user_labels.NAME), or write a customInlineTemplate, such as resource.labels.pod_name=starts_with("${scope}")',
    }
  },
}

/**
 * The query as Kayenta sends it for the scopes of a run: filtered by the attributes that they name,
 * and without a project if neither names one. Raises `conflict` if they do not distinguish the
 * instances of a side.
 */
export function withScopeFilters(metric: string, query: string, scopes: Scopes): string {
  const filtered = query.replace(MARK, (_, kind: string) => {
    const filter = FILTERS[kind]?.(scopes, query)
    if (filter !== undefined && 'text' in filter) return filter.text
    throw new AppError('conflict', `metric ${metric}: the query ${filter?.problem ?? 'is not known'}`)
  })
  if (namesOf(scopes).includes('project')) return filtered
  return filtered.replaceAll(GCE_ZONE, GCE_ANY_PROJECT).replaceAll(OF_PROJECT_IN_JSON, '')
}

/**
 * Conditions on all variables that the query does not name itself, and on the attributes in
 * `_scope_key` and `_location_key`.
 */
function ofAttributes(condition: (name: string, value: string) => string, otherwise: string): Filter {
  return (scopes, query) => {
    const names = namesOf(scopes)
    if (!names.includes('_scope_key')) {
      return {
        problem: `is the same for all instances: name an attribute in the scopes that distinguishes them, as _scope_key next to scope, ${otherwise}`,
      }
    }
    const attributes = names.filter(
      (name) => !name.startsWith('_') && !NO_ATTRIBUTES.includes(name) && !query.includes(`\${${name}}`),
    )
    const conditions = [
      ...attributes.map((name) => condition(name, `\${${name}}`)),
      condition('${_scope_key}', '${scope}'),
      ...(names.includes('_location_key') ? [condition('${_location_key}', '${location}')] : []),
    ]
    return { text: conditions.join(' AND ') }
  }
}

/** Names of both sides, so that a variable missing on one side is reported by its query. */
function namesOf({ baseline, canary }: Scopes): readonly string[] {
  return [...new Set([...Object.keys(baseline), ...Object.keys(canary)])].sort()
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/**
 * The mark in a query that the scopes of a run replace. Placeholders cannot have this name, so a
 * remaining mark is refused.
 */
export function scopeMark(kind: 'atlas' | 'newrelic' | 'signalfx' | 'kubernetes'): string {
  return `\${?${kind}}`
}

/**
 * The zones of a project. Without a project in the scope, those of every project (`.+/` covers
 * both).
 */
export const GCE_ZONE = 'zone=~".+/projects/${project}/zones/${location}-.{1}"'
const GCE_ANY_PROJECT = 'zone=~".+/zones/${location}-.{1}"'

const OF_SIDE = /\$\{(?!(?:application|service)\})[^{}]*\}/

/**
 * Whether a query has placeholders that distinguish the sides. Those that are equal on both sides
 * do not.
 */
export function namesSide(query: string): boolean {
  return OF_SIDE.test(query)
}
